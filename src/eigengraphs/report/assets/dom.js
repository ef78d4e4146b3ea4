// Small helpers. All text goes in as text: nothing here or elsewhere reads a name as HTML.
const DATA = JSON.parse(document.getElementById("report-data").textContent);
const SVG_SPACE = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") node.textContent = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children) if (child) node.append(child);
  return node;
}

function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG_SPACE, tag), attributes, children);
}

function byId(id) {
  return document.getElementById(id);
}

function number(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e4 && size < 1e9) {
    const wanted = Math.max(digits, Math.ceil(Math.log10(size)));
    return value.toLocaleString("en-US", { maximumSignificantDigits: wanted }).replace("-", "−");
  }
  if (size >= 1e9 || size < 1e-4) return value.toExponential(Math.max(digits - 2, 1)).replace("-", "−");
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}

function percent(value) {
  if (value === null || value === undefined) return "–";
  if (Math.abs(value) < 1e-6) return "0.0%";
  return `${Math.abs(value) < 0.001 ? number(100 * value, 2) : (100 * value).toFixed(1)}%`.replace("-", "−");
}

// Width for a picture: on a narrow screen it is drawn narrow, as letters shrink with it else.
function roomOf(holder, most) {
  const room = holder.clientWidth;
  return room > 0 ? Math.min(most, Math.max(room, 280)) : most;
}

// The middle goes: names of regions often differ at their end alone.
function cut(text, most) {
  if (text.length <= most) return text;
  const tail = Math.floor((most - 1) / 2);
  return `${text.slice(0, most - 1 - tail)}…${text.slice(text.length - tail)}`;
}

function columnText(column, i) {
  const value = column.values[i];
  if (value === null) return "";
  return column.kind === "category" ? column.categories[value] : number(value, 6);
}

// ---------------------------------------------------------------- the one tooltip of the page

const tooltip = el("div", { id: "tooltip", role: "tooltip", hidden: true });
const announcer = el("div", { id: "announce", class: "only-read", "aria-live": "polite" });

let anchor = null; // what a tooltip by keyboard belongs to: it stays with it

function showTooltip(lines, x, y, aloud) {
  anchor = aloud ? document.activeElement : null;
  tooltip.replaceChildren(
    ...lines.map((line, k) => el(k === 0 ? "strong" : "div", { text: cut(line, 120) }))
  );
  tooltip.hidden = false;
  placeTooltip(x, y);
  if (aloud) announcer.textContent = lines.join(", ");
}

function placeTooltip(x, y) {
  const box = tooltip.getBoundingClientRect();
  const right = x + 14 + box.width > window.innerWidth;
  const below = y + 14 + box.height > window.innerHeight;
  tooltip.style.left = `${Math.max(4, right ? x - 14 - box.width : x + 14)}px`;
  tooltip.style.top = `${Math.max(4, below ? y - 14 - box.height : y + 14)}px`;
}

function hideTooltip() {
  tooltip.hidden = true;
}

// Focus may scroll the page: the tooltip goes along.
function followAnchor() {
  if (!anchor || anchor !== document.activeElement) return hideTooltip();
  const box = anchor.getBoundingClientRect();
  return placeTooltip(box.x + box.width / 2, box.y + box.height / 2);
}

document.addEventListener("scroll", followAnchor, { passive: true, capture: true });
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hideTooltip();
});

// ---------------------------------------------------------------- numbers on an axis

function extent(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value === null || value === undefined) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) return [0, 1];
  if (low === high) {
    const margin = Math.abs(low) > 0 ? Math.abs(low) * 0.1 : 1;
    return [low - margin, high + margin];
  }
  const margin = (high - low) * 0.05;
  return [low - margin, high + margin];
}

function ticks(low, high, wanted) {
  const rough = (high - low) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((s) => s * power >= rough) * power;
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high; k += 1) found.push(k * step);
  return found;
}
