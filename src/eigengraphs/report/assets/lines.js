// The objective by number of components, and loadings over time.

function valuesOf(ys, wanted) {
  const [low, high] = extent(ys);
  const found = ticks(low, high, wanted);
  return found.length > 1 ? found : ticks(low, high, 2 * wanted); // one alone shows no scale
}

// Room for the longest value beside the axis.
function leftOf(ys, wanted) {
  return 16 + 7 * Math.max(...valuesOf(ys, wanted).map((v) => number(v).length));
}

// Labels under the axis: [[x, text], ...]; lines: where new times begin.
function frameOf(wide, high, xs, ys, labels, wantedY, lines = [], left = 0) {
  const [x0, x1] = extent(xs);
  const [y0, y1] = extent(ys);
  const values = valuesOf(ys, wantedY);
  const edge = { left: Math.max(left || leftOf(ys, wantedY), wide > 600 ? 70 : 0), right: 16, top: 10, bottom: 26 };
  const toX = (v) => edge.left + ((v - x0) / (x1 - x0)) * (wide - edge.left - edge.right);
  const toY = (v) => high - edge.bottom - ((v - y0) / (y1 - y0)) * (high - edge.top - edge.bottom);
  const root = svg("svg", { viewBox: `0 0 ${wide} ${high}`, class: "lines" });
  const frame = svg("g", { "aria-hidden": "true" });
  for (const v of values) {
    frame.append(svg("line", { x1: edge.left, x2: wide - edge.right, y1: toY(v), y2: toY(v), class: v === 0 ? "zero" : "grid" }));
    frame.append(svg("text", { x: edge.left - 6, y: toY(v) + 4, "text-anchor": "end", text: number(v) }));
  }
  let taken = -Infinity;
  for (const v of lines) {
    frame.append(svg("line", { x1: toX(v), x2: toX(v), y1: edge.top, y2: high - edge.bottom, class: "border" }));
  }
  for (const [v, text] of labels) {
    const x = toX(v);
    const half = 3.6 * text.length;
    if (x - half < taken || x + half > wide) continue; // it would run into the one before
    taken = x + half + 8;
    frame.append(svg("text", { x, y: high - edge.bottom + 16, "text-anchor": "middle", text }));
  }
  root.append(frame);
  return { root, frame, toX, toY };
}

function wholeNumbers(xs, wanted) {
  const [x0, x1] = extent(xs);
  return ticks(x0, x1, wanted)
    .filter((v) => Number.isInteger(v) && v >= xs[0] && v <= xs[xs.length - 1])
    .map((v) => [v, String(v)]);
}

// Runs of equal labels, [[first, last], ...], counted from 1.
function runsOf(labels) {
  const runs = [];
  labels.forEach((label, i) => {
    if (i && label === labels[i - 1]) runs[runs.length - 1][1] = i + 1;
    else runs.push([i + 1, i + 1]);
  });
  return runs;
}

function lineOf(plot, xs, ys) {
  const d = xs.map((x, i) => `${i ? "L" : "M"}${plot.toX(x).toFixed(1)},${plot.toY(ys[i]).toFixed(1)}`).join("");
  return svg("path", { d, class: "line" });
}

// One dot after another by arrow keys, as in the scatter plots.
function dotsOf(plot, xs, ys, lines, radius, marked) {
  const group = svg("g", { class: "points" });
  xs.forEach((x, i) => {
    group.append(
      svg("circle", {
        cx: plot.toX(x).toFixed(1),
        cy: plot.toY(ys[i]).toFixed(1),
        r: i === marked ? radius * 1.7 : radius,
        class: i === marked ? "point marked" : "point",
        role: "img",
        tabindex: i === 0 ? 0 : -1,
        "data-i": i,
        "aria-label": lines(i).join(", "),
      })
    );
  });
  const tell = (node, aloud) => {
    const box = node.getBoundingClientRect();
    showTooltip(lines(Number(node.dataset.i)), box.x + box.width / 2, box.y + box.height / 2, aloud);
  };
  group.addEventListener("pointerover", (event) => event.target.dataset.i && tell(event.target, false));
  group.addEventListener("pointerout", hideTooltip);
  // On the dots, as an SVG group that listens to focus becomes one more stop for Tab.
  for (const dot of group.children) {
    dot.addEventListener("focus", () => tell(dot, true));
    dot.addEventListener("blur", hideTooltip);
  }
  group.addEventListener("keydown", (event) => {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next = move && group.children[Number(event.target.dataset.i) + move];
    if (!next) return;
    event.preventDefault();
    event.target.setAttribute("tabindex", -1);
    next.setAttribute("tabindex", 0);
    next.focus();
  });
  return group;
}

function objectivePlot() {
  const holder = byId("objective-plot");
  const ys = DATA.objective;
  if (!holder || ys.some((y) => y === null)) return;
  const xs = ys.map((_, k) => k);
  const share = (k) => (ys[0] > 0 ? `${percent(1 - ys[k] / ys[0])} explained` : "nothing to explain");
  const plot = frameOf(roomOf(holder, 660), 240, xs, [0, ...ys], wholeNumbers(xs, Math.min(xs.length, 14)), 4);
  plot.root.append(
    lineOf(plot, xs, ys),
    dotsOf(plot, xs, ys, (k) => [`${k} components`, `objective ${number(ys[k])}`, share(k)], 4, ys.length - 1)
  );
  plot.root.setAttribute("role", "group");
  plot.root.setAttribute("aria-label", "Objective by number of components");
  holder.replaceChildren(plot.root);
}

function timeline() {
  const holder = byId("timeline-plot");
  if (!holder) return;
  const { by, order, labels } = DATA.timeline;
  const xs = order.map((_, i) => i + 1);
  const runs = runsOf(labels);
  const middles = runs.map(([a, b]) => (a + b) / 2);
  const below = by ? runs.map(([a], r) => [middles[r], cut(labels[a - 1], 18)]) : wholeNumbers(xs, Math.min(xs.length, 12));
  // Where graphs share a time, lines between them would say nothing: one goes through their means.
  const shared = runs.length < labels.length;
  const borders = shared && runs.length <= 40 ? runs.slice(1).map(([a]) => a - 0.5) : [];
  const shown = DATA.loadings.slice(0, 12);
  const left = Math.max(...shown.map((ys) => leftOf(ys, 3))); // one for all: times stand below each other
  const strips = shown.map((all, k) => {
    const ys = order.map((i) => all[i]);
    const mean = ([a, b]) => ys.slice(a - 1, b).reduce((sum, y) => sum + y, 0) / (b - a + 1);
    const plot = frameOf(roomOf(holder, 960), 120, xs, ys, below, 3, borders, left);
    const when = (i) => (by ? [`${by}: ${labels[i]}`] : []);
    const lines = (i) => [DATA.graphs[order[i]], ...when(i), `component ${k + 1}: ${number(ys[i])}`];
    const dots = dotsOf(plot, xs, ys, lines, xs.length > 150 ? 1.8 : 3, -1);
    const line = lineOf(plot, middles, runs.map(mean));
    if (shared) dots.classList.add("pale");
    plot.root.append(...(shared ? [dots, line] : [line, dots]));
    plot.root.setAttribute("role", "group");
    plot.root.setAttribute("aria-label", `Loadings of component ${k + 1} in the order of ${by || "the input"}`);
    return el("figure", {}, el("figcaption", { text: `Component ${k + 1}` }), plot.root);
  });
  holder.replaceChildren(...strips);
}
