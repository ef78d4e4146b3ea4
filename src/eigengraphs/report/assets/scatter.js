// A scatter plot whose points can be hovered, walked through by keyboard, and brushed.
const WIDE = 660;
const HIGH = 460;
const EDGE = { left: 64, right: 14, top: 12, bottom: 48 };

// settings: count, x(i), y(i), style(i), size(i)?, lines(i), xTitle, yTitle, label;
//           alike? (one scale on both axes), brush?(set or null), width?, height?
function scatter(holder, settings) {
  const wide = settings.width || roomOf(holder, WIDE);
  const high = settings.height || Math.min(HIGH, Math.max(wide, 300));
  const edge = { ...EDGE };
  const inner = { w: wide - edge.left - edge.right, h: high - edge.top - edge.bottom };
  let now = settings;
  let places = [];
  let nodes = [];
  let current = 0;
  let chosen = null;
  let drag = null;

  const root = svg("svg", { viewBox: `0 0 ${wide} ${high}`, role: "group", class: "scatter" });
  const frame = svg("g", { "aria-hidden": "true" });
  const cloud = svg("g", { class: "points" });
  const box = svg("rect", { class: "brush", hidden: true });
  box.style.display = "none";
  root.append(frame, cloud, box);
  holder.replaceChildren(root);

  function scales() {
    const all = [...Array(now.count).keys()];
    let [x0, x1] = extent(all.map(now.x));
    let [y0, y1] = extent(all.map(now.y));
    // Room for the longest value between the axis and its title.
    const values = ticks(y0, y1, Math.max(inner.h / 70, 2)).map((v) => number(v).length);
    edge.left = Math.max(EDGE.left, 30 + 7 * Math.max(0, ...values));
    inner.w = wide - edge.left - edge.right;
    if (now.alike) {
      const unit = Math.max((x1 - x0) / inner.w, (y1 - y0) / inner.h);
      const [xm, ym] = [(x0 + x1) / 2, (y0 + y1) / 2];
      [x0, x1] = [xm - (unit * inner.w) / 2, xm + (unit * inner.w) / 2];
      [y0, y1] = [ym - (unit * inner.h) / 2, ym + (unit * inner.h) / 2];
    }
    const toX = (v) => edge.left + ((v - x0) / (x1 - x0)) * inner.w;
    const toY = (v) => edge.top + inner.h - ((v - y0) / (y1 - y0)) * inner.h;
    return { x0, x1, y0, y1, toX, toY };
  }

  function drawFrame(s) {
    const bottom = edge.top + inner.h;
    const parts = [
      svg("rect", { x: edge.left, y: edge.top, width: inner.w, height: inner.h, class: "area" }),
    ];
    for (const v of ticks(s.x0, s.x1, Math.max(inner.w / 90, 2))) {
      const x = s.toX(v);
      parts.push(svg("line", { x1: x, x2: x, y1: edge.top, y2: bottom, class: v === 0 ? "zero" : "grid" }));
      const half = 3.5 * number(v).length;
      const inside = Math.min(x, wide - half - 1); // whole, if not quite under its line
      parts.push(svg("text", { x: inside, y: bottom + 16, "text-anchor": "middle", text: number(v) }));
    }
    for (const v of ticks(s.y0, s.y1, Math.max(inner.h / 70, 2))) {
      const y = s.toY(v);
      parts.push(svg("line", { x1: edge.left, x2: edge.left + inner.w, y1: y, y2: y, class: v === 0 ? "zero" : "grid" }));
      parts.push(svg("text", { x: edge.left - 6, y: y + 4, "text-anchor": "end", text: number(v) }));
    }
    const middle = edge.top + inner.h / 2;
    parts.push(svg("text", { x: edge.left + inner.w / 2, y: high - 8, "text-anchor": "middle", class: "title x-title", text: cut(now.xTitle, Math.round(wide / 8)) }));
    parts.push(svg("text", { x: 14, y: middle, "text-anchor": "middle", class: "title y-title", transform: `rotate(-90 14 ${middle})`, text: cut(now.yTitle, Math.round(inner.h / 7.5)) }));
    frame.replaceChildren(...parts);
  }

  function draw() {
    const s = scales();
    drawFrame(s);
    const small = now.count > 400 ? 0.7 : 1;
    nodes = [];
    places = [];
    for (let i = 0; i < now.count; i += 1) {
      const [x, y] = [now.x(i), now.y(i)];
      if (x === null || y === null) {
        places.push(null);
        nodes.push(null);
        continue;
      }
      const at = [s.toX(x), s.toY(y)];
      const style = now.style(i);
      const size = small * (now.size ? now.size(i) : 1);
      places.push(at);
      nodes.push(
        svg("path", {
          d: SHAPES[style.shape],
          fill: style.color,
          transform: `translate(${at[0].toFixed(2)},${at[1].toFixed(2)}) scale(${size.toFixed(2)})`,
          class: "point",
          role: "img",
          tabindex: i === current ? 0 : -1,
          "data-i": i,
          "aria-label": now.lines(i).join(", "),
        })
      );
    }
    cloud.replaceChildren(...nodes.filter((node) => node));
    root.setAttribute("aria-label", `${now.label}: ${now.xTitle} and ${now.yTitle}. Arrow keys walk through the points.`);
    if (!nodes[current]) step(1, false);
    show();
  }

  function show() {
    nodes.forEach((node, i) => node && node.classList.toggle("faded", chosen !== null && !chosen.has(i)));
  }

  function step(by, focus = true) {
    for (let tried = 0, i = current; tried < now.count; tried += 1) {
      i = (i + by + now.count) % now.count;
      if (nodes[i]) {
        if (nodes[current]) nodes[current].setAttribute("tabindex", -1);
        current = i;
        nodes[i].setAttribute("tabindex", 0);
        if (focus) nodes[i].focus();
        return;
      }
    }
  }

  function highlight(i, aloud) {
    const old = cloud.querySelector(".current");
    if (old) old.classList.remove("current");
    if (i === null || !nodes[i]) return hideTooltip();
    nodes[i].classList.add("current");
    const r = nodes[i].getBoundingClientRect();
    return showTooltip(now.lines(i), r.x + r.width / 2, r.y + r.height / 2, aloud);
  }

  function inside(event) {
    const r = root.getBoundingClientRect();
    return [((event.clientX - r.x) / r.width) * wide, ((event.clientY - r.y) / r.height) * high];
  }

  function nearest([x, y]) {
    let [best, least] = [null, 14 ** 2];
    places.forEach((at, i) => {
      const away = at && (at[0] - x) ** 2 + (at[1] - y) ** 2;
      if (at && away < least) [best, least] = [i, away];
    });
    return best;
  }

  function choose(set) {
    chosen = set;
    show();
    if (now.brush) now.brush(set);
  }

  // On the holder, as an SVG element that listens to focus becomes one more stop for Tab.
  holder.addEventListener("focusin", (event) => {
    const i = Number(event.target.dataset.i);
    if (i !== current && nodes[current]) nodes[current].setAttribute("tabindex", -1);
    current = i;
    event.target.setAttribute("tabindex", 0);
    highlight(i, true);
  });
  holder.addEventListener("focusout", () => highlight(null));
  root.addEventListener("keydown", (event) => {
    const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (move) step(move);
    else if (event.key === "Escape" && now.brush) choose(null);
    else if ((event.key === "Enter" || event.key === " ") && now.brush) {
      const set = new Set(chosen || []);
      if (!set.delete(current)) set.add(current);
      choose(set.size ? set : null);
    } else return;
    event.preventDefault();
  });
  root.addEventListener("pointerleave", () => drag || highlight(null));
  root.addEventListener("pointermove", (event) => {
    const at = inside(event);
    if (!drag) return highlight(nearest(at), false);
    const [x, y] = [Math.min(at[0], drag[0]), Math.min(at[1], drag[1])];
    fill(box, { x, y, width: Math.abs(at[0] - drag[0]), height: Math.abs(at[1] - drag[1]) }, []);
    box.style.display = "";
    return hideTooltip();
  });
  if (settings.brush) {
    root.classList.add("brushable");
    root.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      drag = inside(event);
      root.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    root.addEventListener("pointerup", (event) => {
      if (!drag) return;
      const [[x0, y0], [x1, y1]] = [drag, inside(event)];
      drag = null;
      box.style.display = "none";
      const among = (v, a, b) => v >= Math.min(a, b) && v <= Math.max(a, b);
      if (Math.abs(x1 - x0) < 4 && Math.abs(y1 - y0) < 4) {
        const i = nearest([x1, y1]);
        return choose(i === null ? null : new Set([i]));
      }
      const set = new Set();
      places.forEach((at, i) => at && among(at[0], x0, x1) && among(at[1], y0, y1) && set.add(i));
      return choose(set);
    });
    root.addEventListener("pointercancel", () => {
      drag = null;
      box.style.display = "none";
    });
  }
  draw();
  return {
    redraw(changes) {
      now = { ...now, ...changes };
      draw();
    },
    choose,
    highlight,
  };
}
