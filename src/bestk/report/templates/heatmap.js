
(() => {
  const map = document.getElementById("map");
  const readout = document.getElementById("readout");
  const data = JSON.parse(document.getElementById("data").textContent);
  const n = data.names.length;
  if (!map || !n) return;
  const svg = map.querySelector("svg"), view = svg.querySelector(".view");
  const image = view.querySelector("image"), cursors = [...view.querySelectorAll("rect")];
  const labels = svg.querySelector(".labels"), values = svg.querySelector(".values");
  const TOP = 26, LINE = 14, FEWEST = Math.min(n, 3), LARGEST = 64;
  const BRIGHT = 0.45;  // brighter colours have black numbers
  const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
  let order = data.names.map((_, i) => i), what = 0, here = null;
  let left = 0, side = 0, x = 0, y = 0, span = n;  // pixels of the drawing; cells that are seen

  const write = (tag, text, className) => {
    const made = document.createElement(tag);
    made.textContent = text;
    if (className) made.className = className;
    return made;
  };
  const fixed = (value, digits) => (Math.round(value * 10 ** digits) / 10 ** digits).toFixed(digits);  // no -0
  const nats = (value) => (value === null || Number.isNaN(value) ? "–" : fixed(value, 4));
  const ruler = document.createElement("canvas").getContext("2d");
  const short = (said, room) => {  // cut in the middle, so that it fits
    const letters = [...said];
    let most = letters.length, cut = said;
    while (most > 3 && ruler.measureText(cut).width > room) {
      most = Math.min(most - 1, Math.floor((most * room) / ruler.measureText(cut).width));
      const head = Math.ceil(most / 2);
      cut = `${letters.slice(0, head).join("")}…${letters.slice(letters.length - most + head).join("")}`;
    }
    return cut;
  };

  // the value of each cell, and its colour
  const shared = (i, j) => (i === j ? data.pairs[i][i] : data.relevance[j] - data.pairs[i][j]);
  const value = (row, column) => {
    const i = order[row], j = order[column];
    return what ? shared(i, j) : data.pairs[i][j];
  };
  let low = 0, high = 0;
  const place = (cell) => (high > low ? clamp((cell - low) / (high - low), 0, 1) : 0);
  const tint = (share) => {
    const at = share * (data.colours.length - 1);
    const from = data.colours[Math.floor(at)], to = data.colours[Math.ceil(at)];
    return from.map((part, c) => Math.round(part + (to[c] - part) * (at % 1)));
  };
  const picture = (wide, high, share) => {  // a pixel for each cell
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [wide, high];
    const context = canvas.getContext("2d"), pixels = context.createImageData(wide, high);
    for (let i = 0; i < wide * high; i += 1) {
      pixels.data.set([...tint(share(Math.floor(i / wide), i % wide)), 255], 4 * i);
    }
    context.putImageData(pixels, 0, 0);
    return canvas.toDataURL();
  };
  const paint = () => {
    [low, high] = [0, 0];
    for (let i = 0; i < n; i += 1) {
      for (let j = 0; j < n; j += 1) {
        const cell = value(i, j);
        low = Math.min(low, cell);
        high = Math.max(high, cell);
      }
    }
    image.setAttribute("href", picture(n, n, (row, column) => place(value(row, column))));
    document.getElementById("low").textContent = nats(low);
    document.getElementById("high").textContent = nats(high);
  };

  // draw the map as wide as the page, with as many names as there is room for
  const set = (element, attributes) =>
    Object.entries(attributes).forEach(([name, to]) => element.setAttribute(name, to));
  const text = (said, attributes) => {
    const made = document.createElementNS(svg.namespaceURI, "text");
    made.textContent = said;
    set(made, attributes);
    return made;
  };
  const draw = () => {
    const wide = map.clientWidth;
    const style = getComputedStyle(labels.querySelector("text") ?? svg);
    ruler.font = `${style.fontSize} ${style.fontFamily}`;
    const longest = Math.max(...data.labels.map((label) => ruler.measureText(`999. ${label}`).width));
    left = Math.round(Math.min(longest + 14, Math.max(70, 0.34 * wide), 240));
    side = Math.max(40, Math.min(wide - left - 10, 620, n * LARGEST));
    const cell = side / span, names = [], every = Math.ceil(LINE / cell);
    const apart = Math.ceil(((String(n).length + 1) * 8) / cell);
    for (let i = Math.floor(x); i < Math.min(n, x + span); i += 1) {
      const at = left + (i + 0.5 - x) * cell;
      if (i % apart === 0 && at > left && at < left + side) {
        names.push(text(order[i] + 1, { x: at, y: TOP - 8, "text-anchor": "middle" }));
      }
    }
    for (let i = Math.floor(y); i < Math.min(n, y + span); i += 1) {
      const at = TOP + (i + 0.5 - y) * cell;
      if (i % every === 0 && at > TOP && at < TOP + side) {
        const said = short(`${order[i] + 1}. ${data.labels[order[i]]}`, left - 8);
        names.push(text(said, { x: left - 6, y: at + 4, "text-anchor": "end" }));
      }
    }
    labels.replaceChildren(...names);
    const [right, below] = [left + side + 8, TOP + side + 8];
    set(svg, { width: right, height: below, viewBox: `0 0 ${right} ${below}` });
    set(view, { x: left, y: TOP, width: side, height: side, viewBox: `${x} ${y} ${span} ${span}` });
    values.replaceChildren(...(cell < 46 ? [] : numbers(cell)));
    map.classList.toggle("near", span < n);
  };
  const numbers = (cell) => {
    const made = [];
    for (let i = Math.ceil(y - 0.5); i < Math.min(n, y + span - 0.5); i += 1) {
      for (let j = Math.ceil(x - 0.5); j < Math.min(n, x + span - 0.5); j += 1) {
        made.push(text(fixed(value(i, j), 3), {
          x: left + (j + 0.5 - x) * cell, y: TOP + (i + 0.5 - y) * cell + 4, "text-anchor": "middle",
          class: place(value(i, j)) > BRIGHT ? "on-bright" : "on-dark",
        }));
      }
    }
    return made;
  };

  // the text beside the map
  const about = (i, role) => {
    const made = write("p", `${role}: ${i + 1}. `);
    made.append(write("bdi", data.names[i]), write("br", ""),
      `relevance ${nats(data.relevance[i])}, new information ${nats(data.new_information[i])}, contribution ${nats(data.contribution[i])}`);
    return made;
  };
  const show = (row, column) => {
    here = [row, column];
    cursors.forEach((box) => set(box, { x: column, y: row, visibility: "visible" }));
    const i = order[row], j = order[column], worth = write("p", "");
    const name = (k) => write("bdi", data.names[k]);
    if (i === j) {
      worth.append(write("strong", `${nats(data.pairs[i][i])} nats`), ": relevance of ", name(i), ".");
      readout.replaceChildren(worth, about(i, "Row and column"));
      return;
    }
    worth.append(write("strong", `${nats(data.pairs[i][j])} nats`), ": information that ", name(j), " adds to ", name(i),
      `; in the other direction ${nats(data.pairs[j][i])}. Shared: ${nats(shared(i, j))}.`);
    readout.replaceChildren(worth, about(j, "Column"), about(i, "Row"));
  };
  const cellAt = (event) => {
    const box = svg.getBoundingClientRect();
    return [y + ((event.clientY - box.top - TOP) / side) * span, x + ((event.clientX - box.left - left) / side) * span];
  };
  const find = (event) => {
    const [row, column] = cellAt(event).map(Math.floor);
    const inside = row >= Math.floor(y) && row < y + span && column >= Math.floor(x) && column < x + span;
    if (inside && row >= 0 && row < n && column >= 0 && column < n) show(row, column);
  };

  // zoom and move
  const look = (toX, toY, cells) => {
    span = clamp(cells, FEWEST, n);
    x = clamp(toX, 0, n - span);
    y = clamp(toY, 0, n - span);
    draw();
  };
  const magnify = (factor, about) => {
    const [row, column] = about ?? (here ? [here[0] + 0.5, here[1] + 0.5] : [y + span / 2, x + span / 2]);
    const cells = factor ? clamp(span / factor, FEWEST, n) : n;
    look(column - ((column - x) / span) * cells, row - ((row - y) / span) * cells, cells);
  };
  const move = (down, right) => {
    const [row, column] = here ? [clamp(here[0] + down, 0, n - 1), clamp(here[1] + right, 0, n - 1)] : [0, 0];
    look(clamp(x, column + 1 - span, column), clamp(y, row + 1 - span, row), span);
    show(row, column);
  };
  const keys = {
    ArrowDown: () => move(1, 0), ArrowUp: () => move(-1, 0),
    ArrowRight: () => move(0, 1), ArrowLeft: () => move(0, -1),
    Home: () => move(0, -n), End: () => move(0, n), PageUp: () => move(-n, 0), PageDown: () => move(n, 0),
    "+": () => magnify(1.5), "=": () => magnify(1.5), "-": () => magnify(1 / 1.5), 0: () => magnify(0),
  };
  map.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  });
  const held = new Map();  // pointers that are down, and where they were
  const apart = () => { const [a, b] = [...held.values()]; return Math.hypot(a[0] - b[0], a[1] - b[1]); };
  map.addEventListener("pointerdown", (event) => {
    held.set(event.pointerId, [event.clientX, event.clientY]);
    find(event);
  });
  map.addEventListener("pointermove", (event) => {
    const before = held.get(event.pointerId), now = [event.clientX, event.clientY];
    if (!before) { find(event); return; }
    const wide = held.size === 2 ? apart() : 0;
    held.set(event.pointerId, now);
    if (held.size === 2) {
      magnify(apart() / Math.max(wide, 1), cellAt(event));
    } else if (span < n) {
      look(x - ((now[0] - before[0]) / side) * span, y - ((now[1] - before[1]) / side) * span, span);
    } else {
      find(event);
    }
  });
  ["pointerup", "pointercancel", "pointerleave"].forEach((name) =>
    map.addEventListener(name, (event) => held.delete(event.pointerId)));
  map.addEventListener("dblclick", (event) => magnify(2, cellAt(event)));
  map.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    magnify(event.deltaY < 0 ? 1.25 : 1 / 1.25, cellAt(event));
  }, { passive: false });
  const on = (id, event, work) => document.getElementById(id).addEventListener(event, work);
  on("zoom-in", "click", () => magnify(1.5));
  on("zoom-out", "click", () => magnify(1 / 1.5));
  on("zoom-all", "click", () => magnify(0));
  const again = () => {
    cursors.forEach((box) => box.setAttribute("visibility", "hidden"));
    here = null;
    paint();
    draw();
  };
  on("map-what", "change", (event) => { what = Number(event.target.value); again(); });
  on("map-order", "change", (event) => {
    order = Number(event.target.value) ? data.similar : data.names.map((_, i) => i);
    again();
  });
  document.getElementById("ramp").src = picture(256, 1, (_, at) => at / 255);
  paint();
  draw();
  let known = map.clientWidth;
  new ResizeObserver(() => {
    if (map.clientWidth === known) return;
    known = map.clientWidth;
    requestAnimationFrame(draw);  // drawing changes the height, which is observed, too
  }).observe(map);
})();
