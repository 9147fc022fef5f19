"use strict";
// Everything here is an extra: without it the page shows the same charts, tables and pictures.
const SVG = "http://www.w3.org/2000/svg";
const all = (query, root = document) => [...root.querySelectorAll(query)];
const make = (name, attributes, root) => {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  root.append(made);
  return made;
};
const text = (name, kind, words, root) => {
  const made = document.createElement(name);
  made.className = kind;
  made.textContent = words;
  root.append(made);
  return made;
};

// Values read off a chart: by pointer, by finger, by the arrow keys.
function readable(chart) {
  const data = JSON.parse(chart.dataset.lines);
  const xs = [...new Set(data.s.flatMap((one) => one.p.map((point) => point[0])))].sort((a, b) => a - b);
  if (!xs.length) return;
  chart.querySelector("title").remove(); // its words are in aria-label; as a tip they would cover ours
  const place = (range, value) =>
    range[2] + ((value - range[0]) / (range[1] - range[0])) * (range[3] - range[2]);
  const cross = make("line", { class: "cross", y1: data.top, y2: data.bottom, visibility: "hidden" }, chart);
  const tip = text("div", "tip", "", chart.parentNode);
  tip.hidden = true;
  tip.setAttribute("aria-live", "polite");
  let at = -1;
  const show = (number) => {
    at = Math.max(0, Math.min(xs.length - 1, number));
    const x = xs[at];
    tip.textContent = "";
    text("b", "", `${data.w} ${x.toLocaleString("en")}`, tip);
    for (const one of data.s) {
      const found = one.p.find((point) => point[0] === x);
      if (found) text("div", "", data.s.length > 1 ? `${one.n}  ${found[1]}` : `${found[1]}`, tip);
    }
    const shown = place(data.x, x);
    cross.setAttribute("x1", shown);
    cross.setAttribute("x2", shown);
    cross.setAttribute("visibility", "visible");
    tip.hidden = false;
    const box = chart.getBoundingClientRect(), outer = chart.parentNode.getBoundingClientRect();
    const middle = box.left - outer.left + (shown / chart.viewBox.baseVal.width) * box.width;
    const room = outer.width - tip.offsetWidth - 6;
    tip.style.left = `${Math.max(6, Math.min(room, middle + 10))}px`;
    tip.style.top = `${box.top - outer.top + 4}px`;
  };
  const hide = () => {
    tip.hidden = true;
    cross.setAttribute("visibility", "hidden");
  };
  chart.addEventListener("pointermove", (event) => {
    const box = chart.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * chart.viewBox.baseVal.width;
    let best = 0;
    xs.forEach((value, n) => {
      if (Math.abs(place(data.x, value) - x) < Math.abs(place(data.x, xs[best]) - x)) best = n;
    });
    show(best);
  });
  chart.addEventListener("pointerleave", hide);
  chart.addEventListener("blur", hide);
  chart.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape") hide();
    if (!step) return;
    event.preventDefault();
    show(at + step);
  });
}
all("[data-lines]").forEach(readable);

// The maps: one image is picked in all of them at once.
const block = document.getElementById("map-data");
if (block) {
  const data = JSON.parse(block.textContent);
  const maps = all("[data-map]"), card = document.getElementById("map-card");
  let picked = -1;
  const name = (number) => {
    const label = data.labels.length ? data.names[data.labels[number]] : "";
    return [label, data.files[number]].filter(Boolean).join(", ") || `image ${number}`;
  };
  const style = getComputedStyle(document.documentElement);
  const [columns, rows] = ["--columns", "--rows"].map((key) => Number(style.getPropertyValue(key)));
  const thumbnail = (number, root) => {
    const holder = text("div", "", "", root);
    const shown = text("span", "tn", "", holder);
    const across = (number % columns) / Math.max(1, columns - 1);
    const down = Math.floor(number / columns) / Math.max(1, rows - 1);
    shown.style.backgroundPosition = `${100 * across}% ${100 * down}%`;
    shown.setAttribute("aria-hidden", "true"); // the word below says it
    const word = text("div", "tn-word", name(number), holder);
    word.title = name(number);
    if (data.files[number]) word.dataset.file = data.files[number];
    return holder;
  };
  const show = (number) => {
    all(".card-row", card).forEach((row) => row.remove());
    data.runs.forEach((run, n) => {
      const row = text("div", "card-row", "", card);
      if (run.letter) text("span", `badge c${n % 10}`, run.letter, row);
      thumbnail(number, row).className = "first";
      run.near[number].forEach((other) => thumbnail(other, row));
    });
  };
  const pick = (number) => {
    if (number === picked) return;
    picked = number;
    show(number);
    maps.forEach((map, n) => {
      const run = data.runs[n], links = map.querySelector(".links"), halo = map.querySelector(".halo");
      links.textContent = halo.textContent = "";
      map.parentNode.classList.add("picked");
      const [x, y] = run.at[number];
      for (const other of run.near[number]) {
        const [a, b] = run.at[other];
        make("line", { x1: x, y1: y, x2: a, y2: b }, links);
        make("circle", { cx: a, cy: b, r: 5 }, halo);
      }
      make("circle", { cx: x, cy: y, r: 9 }, halo);
    });
  };
  const nearest = (map, event, reach) => {
    const box = map.getBoundingClientRect(), run = data.runs[map.dataset.map];
    const side = map.viewBox.baseVal.width;
    const scale = Math.min(box.width, box.height) / side;
    const x = (event.clientX - box.left - (box.width - side * scale) / 2) / scale;
    const y = (event.clientY - box.top - (box.height - side * scale) / 2) / scale;
    let best = -1, least = reach * reach;
    run.at.forEach(([a, b], n) => {
      const far = (a - x) ** 2 + (b - y) ** 2;
      if (far < least) [best, least] = [n, far];
    });
    return best;
  };
  const towards = (run, key) => {
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
    const [x, y] = run.at[picked];
    let best = picked, least = Infinity;
    run.at.forEach(([a, b], n) => {
      const along = (a - x) * dx + (b - y) * dy, aside = Math.abs((a - x) * dy) + Math.abs((b - y) * dx);
      if (along > 0.05 && along + 2 * aside < least) [best, least] = [n, along + 2 * aside];
    });
    return best;
  };
  const forget = () => {
    picked = -1;
    maps.forEach((map) => {
      map.parentNode.classList.remove("picked");
      map.querySelector(".links").textContent = map.querySelector(".halo").textContent = "";
    });
  };
  show(0);
  maps.forEach((map) => {
    map.querySelector("title").remove();
    const find = (reach) => (event) => {
      const found = nearest(map, event, reach);
      if (found >= 0) pick(found);
    };
    map.addEventListener("pointermove", find(14));
    map.addEventListener("click", find(40));
    map.addEventListener("pointerleave", forget);
    map.addEventListener("keydown", (event) => {
      if (event.key === "Escape") forget();
      if (!event.key.startsWith("Arrow")) return;
      event.preventDefault();
      pick(picked < 0 ? 0 : towards(data.runs[map.dataset.map], event.key));
    });
  });
  const pressed = (button) => {
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(on));
    return on;
  };
  all("[data-show]").forEach((button) => {
    button.addEventListener("click", () => {
      const on = pressed(button), ground = maps[button.dataset.of].parentNode;
      all(`[data-kind="${button.dataset.show}"]`, ground).forEach((one) => one.classList.toggle("on", on));
      ground.classList.toggle("dim", ground.querySelector(".on") !== null);
    });
  });
  all("[data-pictures]").forEach((button) => {
    button.addEventListener("click", () => {
      maps[button.dataset.pictures].parentNode.classList.toggle("plain", !pressed(button));
    });
  });
}

// Copy a command; the button is only there where copying works.
if (navigator.clipboard) {
  all(".copy").forEach((button) => {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.parentNode.querySelector("pre").textContent);
      button.textContent = "Copied";
    });
  });
}

// A click on a file's name copies it.
if (navigator.clipboard) {
  document.addEventListener("click", async (event) => {
    const one = event.target.closest("[data-file]");
    if (!one) return;
    await navigator.clipboard.writeText(one.dataset.file);
    const before = one.textContent;
    one.textContent = "copied";
    setTimeout(() => (one.textContent = before), 900);
  });
}

// Where the reader is, and on paper everything unfolded.
const links = new Map(all("nav a").map((link) => [link.hash.slice(1), link]));
const seen = new IntersectionObserver(
  (entries) =>
    entries.forEach((entry) => {
      if (!entry.isIntersecting) return;
      links.forEach((link, key) =>
        key === entry.target.id ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current"),
      );
    }),
  { rootMargin: "-20% 0px -70% 0px" },
);
all("main section").forEach((section) => seen.observe(section));
addEventListener("beforeprint", () => all("details").forEach((one) => (one.open = true)));
