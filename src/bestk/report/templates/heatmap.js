
(() => {
  const map = document.getElementById("map");
  const readout = document.getElementById("readout");
  const data = JSON.parse(document.getElementById("data").textContent);
  const n = data.names.length;
  if (!map || !n) return;
  const svg = map.querySelector("svg"), view = svg.querySelector(".view");
  const image = view.querySelector("image"), cursors = [...view.querySelectorAll("rect")];
  const labels = svg.querySelector(".labels"), values = svg.querySelector(".values");
  const TOP = 26, LINE = 14, WIDEST = 760, LARGEST = 64;
  const BRIGHT = 0.45;  // brighter colours have black numbers
  const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
  let here = null;
  let left = 0, side = 0;  // pixels of the drawing

  const write = (tag, text) => {
    const made = document.createElement(tag);
    made.textContent = text;
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
  const value = (i, j) => data.pairs[i][j];
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
    for (let i = 0; i < n * n; i += 1) {
      const cell = value(Math.floor(i / n), i % n);
      low = Math.min(low, cell);
      high = Math.max(high, cell);
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
    side = Math.max(40, Math.min(wide - left - 10, WIDEST, n * LARGEST));
    const cell = side / n, names = [], numbers = [], every = Math.ceil(LINE / cell);
    const apart = Math.ceil(((String(n).length + 1) * 8) / cell);
    const middle = (i) => (i + 0.5) * cell;
    for (let i = 0; i < n; i += 1) {
      if (i % apart === 0) {
        names.push(text(i + 1, { x: left + middle(i), y: TOP - 8, "text-anchor": "middle" }));
      }
      if (i % every === 0) {
        const said = short(`${i + 1}. ${data.labels[i]}`, left - 8);
        names.push(text(said, { x: left - 6, y: TOP + middle(i) + 4, "text-anchor": "end" }));
      }
      for (let j = 0; cell >= 46 && j < n; j += 1) {
        numbers.push(text(fixed(value(i, j), 3), {
          x: left + middle(j), y: TOP + middle(i) + 4, "text-anchor": "middle",
          class: place(value(i, j)) > BRIGHT ? "on-bright" : "on-dark",
        }));
      }
    }
    labels.replaceChildren(...names);
    values.replaceChildren(...numbers);
    const [right, below] = [left + side + 8, TOP + side + 8];
    set(svg, { width: right, height: below, viewBox: `0 0 ${right} ${below}` });
    set(view, { x: left, y: TOP, width: side, height: side });
  };

  // the text beside the map
  const about = (i, role) => {
    const made = write("p", `${role}: ${i + 1}. `);
    made.append(write("bdi", data.names[i]), write("br", ""),
      `relevance ${nats(data.relevance[i])}, new information ${nats(data.new_information[i])}`);
    return made;
  };
  const show = (i, j) => {
    here = [i, j];
    cursors.forEach((box) => set(box, { x: j, y: i, visibility: "visible" }));
    const worth = write("p", "");
    const name = (k) => write("bdi", data.names[k]);
    if (i === j) {
      worth.append(write("strong", `${nats(data.pairs[i][i])} nats`), ": relevance of ", name(i), ".");
      readout.replaceChildren(worth, about(i, "Row and column"));
      return;
    }
    worth.append(write("strong", `${nats(data.pairs[i][j])} nats`), ": information that ", name(j), " adds to ", name(i),
      `; in the other direction ${nats(data.pairs[j][i])}. Shared: ${nats(data.relevance[j] - data.pairs[i][j])}.`);
    readout.replaceChildren(worth, about(j, "Column"), about(i, "Row"));
  };
  const find = (event) => {
    const box = svg.getBoundingClientRect();
    const row = Math.floor(((event.clientY - box.top - TOP) / side) * n);
    const column = Math.floor(((event.clientX - box.left - left) / side) * n);
    if (row >= 0 && row < n && column >= 0 && column < n) show(row, column);
  };
  const move = (down, right) => {
    if (here) show(clamp(here[0] + down, 0, n - 1), clamp(here[1] + right, 0, n - 1));
    else show(0, 0);
  };
  const keys = {
    ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1],
    Home: [0, -n], End: [0, n], PageUp: [-n, 0], PageDown: [n, 0],
  };
  map.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
    event.preventDefault();
    move(...keys[event.key]);
  });
  map.addEventListener("pointerdown", find);
  map.addEventListener("pointermove", find);
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
