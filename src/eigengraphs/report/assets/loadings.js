// Graphs by their loadings, and the table that follows the plot.
const ROWS_AT_ONCE = 500;
const LOADINGS_IN_TABLE = 12;

// "k3" is component 4, "n1" the second column, "order" the place in the input.
function axisOf(key) {
  if (key === "order") {
    return { title: "place in the input", of: (i) => i + 1 };
  }
  const k = Number(key.slice(1));
  if (key[0] === "n") return { title: DATA.columns[k].name, of: (i) => DATA.columns[k].values[i] };
  return {
    title: `loading of component ${k + 1} (explains ${percent(DATA.explained[k])})`,
    of: (i) => DATA.loadings[k][i],
  };
}

function graphLines(i) {
  return [
    DATA.graphs[i],
    ...DATA.columns.slice(0, 12).map((column) => `${cut(column.name, 40)}: ${columnText(column, i) || "unknown"}`),
    `residual: ${percent(DATA.residual[i])}`,
  ];
}

function loadingsSection() {
  const [xSelect, ySelect, colorSelect] = ["loadings-x", "loadings-y", "loadings-color"].map(byId);
  const legend = byId("loadings-legend");
  const table = graphTable();
  const settings = () => {
    const [x, y] = [axisOf(xSelect.value), axisOf(ySelect.value)];
    const column = colorSelect.value === "" ? null : DATA.columns[Number(colorSelect.value)];
    const colors = coloring(column);
    legend.replaceChildren(...[colors.legend()].filter(Boolean));
    return {
      x: x.of, y: y.of, xTitle: x.title, yTitle: y.title, style: colors.of,
    };
  };
  const plot = scatter(byId("loadings-plot"), {
    count: DATA.graphs.length,
    lines: graphLines,
    label: "Graphs by their loadings",
    brush: (set) => table.choose(set),
    ...settings(),
  });
  for (const select of [xSelect, ySelect, colorSelect]) {
    select.addEventListener("change", () => plot.redraw(settings()));
  }
  byId("loadings-reset").addEventListener("click", () => {
    plot.choose(null);
    table.clear();
  });
  table.onPoint((i) => plot.highlight(i, false));
}

function graphTable() {
  const body = byId("graph-rows");
  const count = byId("graph-count");
  const search = byId("graph-search");
  const more = byId("graph-more");
  const shownLoadings = DATA.loadings.slice(0, LOADINGS_IN_TABLE);
  let chosen = null;
  let most = ROWS_AT_ONCE;
  let pointed = () => {};
  const texts = DATA.graphs.map((name, i) =>
    [name, ...DATA.columns.map((column) => columnText(column, i))].join("\n").toLowerCase()
  );

  function row(i) {
    const cell = (text, kind) => el("td", { class: kind, title: text.length > 24 ? text : null, text });
    return el(
      "tr",
      { "data-graph": i },
      el("th", { scope: "row", title: DATA.graphs[i], text: DATA.graphs[i] }),
      ...DATA.columns.map((column) => cell(columnText(column, i), column.kind === "number" ? "number" : "")),
      cell(percent(DATA.residual[i]), "number"),
      ...shownLoadings.map((values) => cell(number(values[i]), "number"))
    );
  }

  function draw() {
    const wanted = search.value.trim().toLowerCase();
    const kept = [];
    DATA.graphs.forEach((_, i) => {
      if ((chosen === null || chosen.has(i)) && texts[i].includes(wanted)) kept.push(i);
    });
    body.replaceChildren(...kept.slice(0, most).map(row));
    const hidden = kept.length - Math.min(kept.length, most);
    count.textContent = `${kept.length} of ${DATA.graphs.length} graphs` +
      (hidden ? `; the first ${most} are listed` : "");
    more.hidden = hidden === 0;
  }

  body.addEventListener("pointerover", (event) => {
    const at = event.target.closest("tr");
    if (at) pointed(Number(at.dataset.graph));
  });
  body.addEventListener("pointerleave", () => pointed(null));
  search.addEventListener("input", draw);
  more.addEventListener("click", () => {
    most = Infinity;
    draw();
  });
  draw();
  return {
    choose(set) {
      chosen = set;
      draw();
    },
    clear() {
      search.value = "";
      chosen = null;
      draw();
    },
    onPoint(listener) {
      pointed = listener;
    },
  };
}
