// Matrices on a canvas, in input order; hovering or arrow keys tell the pair and its value.

// settings: size, value(r, c) (null: not observed), limit, names [of rows and columns], label
function heatmap(holder, settings) {
  const n = settings.size;
  const canvas = el("canvas", {
    width: n,
    height: n,
    tabindex: 0,
    role: "img",
    "aria-label": `${settings.label}. Arrow keys walk through the cells.`,
    class: n > 170 ? "cells smooth" : "cells",
  });
  const context = canvas.getContext("2d");
  const image = context.createImageData(n, n);
  const table = [...Array(256).keys()].map((k) => along(TWO_ENDS, k / 255));
  for (let r = 0, p = 0; r < n; r += 1) {
    for (let c = 0; c < n; c += 1, p += 4) {
      const value = settings.value(r, c);
      const t = value === null ? 0 : (value / settings.limit + 1) / 2;
      const rgb = value === null ? [225, 225, 205] : table[Math.round(255 * Math.min(Math.max(t, 0), 1))];
      image.data[p] = rgb[0];
      image.data[p + 1] = rgb[1];
      image.data[p + 2] = rgb[2];
      image.data[p + 3] = 255;
    }
  }
  context.putImageData(image, 0, 0);

  let at = [0, 0];
  function tell(r, c, x, y, aloud) {
    const value = settings.value(r, c);
    const lines = [
      `${cut(settings.names[r], 60)} – ${cut(settings.names[c], 60)}`,
      value === null ? "not observed" : number(value, 3),
    ];
    showTooltip(lines, x, y, aloud);
  }
  function cell(event) {
    const box = canvas.getBoundingClientRect();
    const place = (v, size) => Math.min(Math.max(Math.floor((v / size) * n), 0), n - 1);
    return [place(event.clientY - box.y, box.height), place(event.clientX - box.x, box.width)];
  }
  canvas.addEventListener("pointermove", (event) => {
    at = cell(event);
    tell(...at, event.clientX, event.clientY, false);
  });
  canvas.addEventListener("pointerleave", hideTooltip);
  canvas.addEventListener("blur", hideTooltip);
  canvas.addEventListener("keydown", (event) => {
    const move = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key];
    if (!move) return;
    event.preventDefault();
    at = at.map((v, k) => Math.min(Math.max(v + move[k], 0), n - 1));
    const box = canvas.getBoundingClientRect();
    tell(...at, box.x + ((at[1] + 0.5) * box.width) / n, box.y + ((at[0] + 0.5) * box.height) / n, true);
  });
  holder.replaceChildren(canvas, scaleBar(settings.limit));
}

function scaleBar(limit) {
  const bar = svg("svg", { class: "ramp", viewBox: "0 0 200 10", preserveAspectRatio: "none", "aria-hidden": "true" });
  for (let k = 0; k < 50; k += 1) {
    bar.append(svg("rect", { x: k * 4, y: 0, width: 4.2, height: 10, fill: css(along(TWO_ENDS, k / 49)) }));
  }
  const label = `Colors from ${number(-limit, 2)} through 0 to ${number(limit, 2)}`;
  return el(
    "div",
    { class: "scale", role: "img", "aria-label": label },
    bar,
    el("div", { class: "ends" }, ...[-limit, 0, limit].map((v) => el("span", { text: number(v, 2) })))
  );
}

// Cells as bytes: 0 to 254 from low to high, 255 for what is not observed.
function decoded(map) {
  const bytes = Uint8Array.from(atob(map.data), (letter) => letter.charCodeAt(0));
  const unit = (map.high - map.low) / 254;
  return (r, c) => {
    const step = bytes[r * map.columns + c];
    return step === 255 ? null : map.low + step * unit;
  };
}

function componentMaps() {
  const cells = DATA.cells;
  for (const holder of document.querySelectorAll("[data-component]")) {
    const k = Number(holder.dataset.component);
    const left = cells.positions[k];
    const right = cells.right ? cells.right[k] : left;
    heatmap(holder, {
      size: left.length,
      value: (r, c) => left[r] * right[c],
      limit: cells.limits[k] || 1,
      names: cells.names,
      label: `Component ${k + 1} as a matrix, vertices in input order`,
    });
  }
}

function worstMaps() {
  for (const holder of document.querySelectorAll("[data-worst]")) {
    const worst = DATA.worst[Number(holder.dataset.worst)];
    const map = worst[holder.dataset.map];
    heatmap(holder, {
      size: map.rows,
      value: decoded(map),
      limit: map.high || 1,
      names: DATA.cells.names,
      label: `${holder.dataset.map} of ${cut(worst.name, 60)}, vertices in input order`,
    });
  }
}
