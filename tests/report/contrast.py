"""Text of a page whose contrast with its ground is below 4.5 (WCAG 2.2, 1.4.3), by JavaScript."""

UNREADABLE = """
(() => {
  const parts = (colour) => {
    const found = colour.match(/[\\d.]+/g).map(Number);
    const scale = colour.startsWith("color(") ? 1 : 255;
    return { rgb: found.slice(0, 3).map((c) => c / scale), alpha: found[3] ?? 1 };
  };
  const light = ({ rgb }) => {
    const [r, g, b] = rgb.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const found = parts(getComputedStyle(at).backgroundColor);
      if (found.alpha > 0.99) return found;
    }
  };
  const bad = [];
  let checked = 0;
  for (const node of document.querySelectorAll("body *")) {
    const own = [...node.childNodes].some((one) => one.nodeType === 3 && one.data.trim());
    if (!own || !node.getClientRects().length || node.closest("title, style, script")) continue;
    const style = getComputedStyle(node);
    const ink = parts(node.closest("svg") ? style.fill : style.color);
    const [low, high] = [light(ink), light(ground(node))].sort((a, b) => a - b);
    checked += 1;
    if ((high + 0.05) / (low + 0.05) < 4.5) bad.push(node.className + ": " + node.textContent);
  }
  return { bad, checked };
})()
"""
