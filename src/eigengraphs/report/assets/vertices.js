// Vertices by their positions in two components, and on a map where they have coordinates.

function vertexLines(i) {
  return [
    DATA.vertices[i],
    ...DATA.vertexColumns.slice(0, 8).map((column) => `${cut(column.name, 40)}: ${columnText(column, i) || "unknown"}`),
  ];
}

// "l0" is the first component (where edges start), "r0" its other side, "order" the input order.
function vertexAxis(key) {
  if (key === "order") return { title: "place in the input", of: (i) => DATA.vertexPlaces[i] + 1 };
  const k = Number(key.slice(1));
  const values = (key[0] === "r" ? DATA.right : DATA.positions)[k];
  const side = DATA.right ? (key[0] === "r" ? ", edges to" : ", edges from") : "";
  return { title: `position in component ${k + 1}${side}`, of: (i) => values[i] };
}

function positionsPlot() {
  const [xSelect, ySelect, colorSelect] = ["vertices-x", "vertices-y", "vertices-color"].map(byId);
  const settings = () => {
    const [x, y] = [vertexAxis(xSelect.value), vertexAxis(ySelect.value)];
    const column = colorSelect.value === "" ? null : DATA.vertexColumns[Number(colorSelect.value)];
    const colors = coloring(column);
    byId("vertices-legend").replaceChildren(...[colors.legend()].filter(Boolean));
    const lines = (i) => [...vertexLines(i), `${x.title}: ${number(x.of(i))}`, `${y.title}: ${number(y.of(i))}`];
    return { x: x.of, y: y.of, xTitle: x.title, yTitle: y.title, style: colors.of, lines };
  };
  const plot = scatter(byId("vertices-plot"), {
    count: DATA.vertices.length,
    label: "Vertices by their positions",
    ...settings(),
  });
  for (const select of [xSelect, ySelect, colorSelect]) {
    select.addEventListener("change", () => plot.redraw(settings()));
  }
}

// A flat map, or a body from three sides. Red and large: positive; blue and large: negative.
const VIEWS = {
  2: [["map", 0, 1]],
  3: [["from above", 0, 1], ["from the front", 0, 2], ["from the side", 1, 2]],
};

function maps() {
  const holder = byId("map-plot");
  if (!holder) return;
  const select = byId("map-component");
  const views = VIEWS[DATA.coordinates.length];
  const style = () => {
    const axis = vertexAxis(select.value);
    const largest = Math.max(...DATA.vertices.map((_, i) => Math.abs(axis.of(i)))) || 1;
    return {
      style: (i) => ({ color: css(along(TWO_ENDS, (axis.of(i) / largest + 1) / 2)), shape: axis.of(i) < 0 ? "square" : "circle" }),
      size: (i) => 0.45 + 1.1 * Math.sqrt(Math.abs(axis.of(i)) / largest),
      lines: (i) => [...vertexLines(i), `${axis.title}: ${number(axis.of(i))}`],
    };
  };
  const letters = ["x", "y", "z"];
  const plots = views.map(([name, a, b]) => {
    const place = el("div", { class: "plot map" });
    holder.append(el("figure", {}, el("figcaption", { text: name }), place));
    return scatter(place, {
      count: DATA.vertices.length,
      x: (i) => DATA.coordinates[a][i],
      y: (i) => DATA.coordinates[b][i],
      xTitle: letters[a],
      yTitle: letters[b],
      alike: true,
      label: `Vertices, ${name}`,
      ...(views.length === 1 ? {} : { width: 420, height: 380 }),
      ...style(),
    });
  });
  select.addEventListener("change", () => plots.forEach((plot) => plot.redraw(style())));
}
