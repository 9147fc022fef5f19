"use strict";
// Copy a path. Where the clipboard may not be written, the path is selected for the reader's own keys.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
  } catch {
    const range = document.createRange();
    range.selectNodeContents(button.previousElementSibling);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    button.textContent = document.execCommand("copy") ? "Copied" : "Ctrl+C";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 1600);
});
