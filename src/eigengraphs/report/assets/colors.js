// Colors that color-blind readers can tell apart, and a shape beside each.
const HUES = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8a6100", "#56B4E9", "#444444"];
const UNKNOWN = { color: "#9a9a9a", shape: "cross" };

const SHAPES = {
  circle: "M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0Z",
  square: "M-4.4,-4.4H4.4V4.4H-4.4Z",
  triangle: "M0,-5.8L5.4,4H-5.4Z",
  diamond: "M0,-6.2L5,0L0,6.2L-5,0Z",
  wedge: "M0,5.8L5.4,-4H-5.4Z",
  plus: "M-1.8,-5.5H1.8V-1.8H5.5V1.8H1.8V5.5H-1.8V1.8H-5.5V-1.8H-1.8Z",
  star: "M0,-6.4L1.7,-2L6.2,-2L2.6,0.9L4,5.4L0,2.7L-4,5.4L-2.6,0.9L-6.2,-2L-1.7,-2Z",
  cross: "M-4,-5.2L0,-1.2L4,-5.2L5.2,-4L1.2,0L5.2,4L4,5.2L0,1.2L-4,5.2L-5.2,4L-1.2,0L-5.2,-4Z",
};
const MARKS = ["circle", "triangle", "square", "diamond", "wedge", "plus", "star"];

// From dark blue over green to yellow, evenly in lightness; stops short of the palest yellow.
const RAMP = [
  [68, 1, 84], [71, 38, 117], [62, 73, 137], [48, 103, 141], [37, 130, 142],
  [30, 157, 136], [53, 183, 120], [109, 205, 88], [180, 221, 44], [226, 228, 24],
];
// Blue for negative, white for zero, red for positive.
const TWO_ENDS = [
  [5, 48, 97], [33, 102, 172], [67, 147, 195], [146, 197, 222], [209, 229, 240],
  [255, 255, 255], [253, 219, 199], [244, 165, 130], [214, 96, 77], [178, 24, 43], [103, 0, 31],
];

function along(stops, t) {
  const place = Math.min(Math.max(t, 0), 1) * (stops.length - 1);
  const k = Math.min(Math.floor(place), stops.length - 2);
  const part = place - k;
  return stops[k].map((low, c) => Math.round(low + part * (stops[k + 1][c] - low)));
}

function css(rgb) {
  return `rgb(${rgb[0]},${rgb[1]},${rgb[2]})`;
}

function categoryStyle(c) {
  // Neighbors differ in both; 49 pairs before one comes again.
  return { color: HUES[c % 7], shape: MARKS[(c + Math.floor(c / 7)) % 7] };
}

// What a column makes of each point: its color and shape, and a legend.
function coloring(column) {
  if (!column) return { of: () => ({ color: HUES[0], shape: "circle" }), legend: () => null };
  const someUnknown = column.values.some((value) => value === null);
  if (column.kind === "category") {
    const of = (i) => (column.values[i] === null ? UNKNOWN : categoryStyle(column.values[i]));
    return { of, legend: () => categoryLegend(column, someUnknown) };
  }
  let [low, high] = [Infinity, -Infinity];
  for (const value of column.values) {
    if (value === null) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  const width = high > low ? high - low : 1;
  const of = (i) => {
    const value = column.values[i];
    if (value === null) return UNKNOWN;
    return { color: css(along(RAMP, (value - low) / width)), shape: "circle" };
  };
  return { of, legend: () => rampLegend(column.name, low, high, someUnknown) };
}

function mark(style) {
  const picture = svg("svg", { width: 14, height: 14, viewBox: "-7 -7 14 14", "aria-hidden": "true" });
  picture.append(svg("path", { d: SHAPES[style.shape], fill: style.color }));
  return picture;
}

function legendItem(style, text) {
  return el("li", { title: text }, mark(style), el("span", { class: "name", text }));
}

function categoryLegend(column, someUnknown) {
  const counts = new Array(column.categories.length).fill(0);
  for (const value of column.values) if (value !== null) counts[value] += 1;
  const list = el("ul", { class: "legend", "aria-label": `Colors and shapes: ${column.name}` });
  column.categories.forEach((name, c) => {
    list.append(legendItem(categoryStyle(c), `${name} (${counts[c]})`));
  });
  if (someUnknown) list.append(legendItem(UNKNOWN, "unknown"));
  return list;
}

function rampLegend(name, low, high, someUnknown) {
  const bar = svg("svg", { class: "ramp", viewBox: "0 0 200 14", "aria-hidden": "true" });
  for (let k = 0; k < 50; k += 1) {
    bar.append(svg("rect", { x: k * 4, y: 0, width: 4.2, height: 14, fill: css(along(RAMP, k / 49)) }));
  }
  return el(
    "div",
    { class: "legend", "aria-label": `Colors: ${name} from ${number(low)} to ${number(high)}` },
    el("span", { text: number(low) }),
    bar,
    el("span", { text: number(high) }),
    someUnknown && el("span", {}, mark(UNKNOWN), document.createTextNode(" unknown"))
  );
}
