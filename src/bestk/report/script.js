
"use strict";
(() => {
  const root = document.documentElement;
  const data = JSON.parse(document.getElementById("data").textContent);
  root.classList.add("js");

  const write = (tag, text, className) => {
    const made = document.createElement(tag);
    made.textContent = text;
    if (className) made.className = className;
    return made;
  };

  // light or dark
  const remember = (theme) => { try { localStorage.setItem("bestk-theme", theme); } catch { /* private */ } };
  const recall = () => { try { return localStorage.getItem("bestk-theme"); } catch { return null; } };
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const toggle = document.getElementById("theme");
  const label = () => { toggle.textContent = isDark() ? "Light colours" : "Dark colours"; };
  if (["light", "dark"].includes(recall())) root.dataset.theme = recall();
  toggle.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    remember(root.dataset.theme);
    label();
  });
  label();

  // tables that sort by a column
  const valueOf = (row, place) => {
    const cell = row.cells[place];
    const given = cell.dataset.value;
    return given === undefined ? cell.textContent : given === "" ? NaN : Number(given);
  };
  const compare = (a, b) => {
    if (typeof a === "string") return a.localeCompare(b, undefined, { numeric: true });
    if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
    return a - b;
  };
  const sortBy = (table, place) => {
    const heads = [...table.tHead.rows[0].cells];
    const head = heads[place];
    const first = head.classList.contains("n") && place > 0 ? "descending" : "ascending";
    const other = first === "ascending" ? "descending" : "ascending";
    const way = head.getAttribute("aria-sort") === first ? other : first;
    heads.forEach((each) => each.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", way);
    const sign = way === "ascending" ? 1 : -1;
    const rows = [...table.tBodies[0].rows].map((row) => [valueOf(row, place), row]);
    rows.sort((a, b) => sign * compare(a[0], b[0]));
    table.tBodies[0].append(...rows.map((pair) => pair[1]));
  };
  document.querySelectorAll("table.sortable").forEach((table) => {
    [...table.tHead.rows[0].cells].forEach((head, place) => {
      const button = write("button", "");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sortBy(table, place));
      head.replaceChildren(button);
    });
  });

  // copying code
  document.querySelectorAll("button.copy").forEach((button) => {
    const said = button.textContent;
    const source = document.getElementById(button.dataset.source);
    const select = () => {
      const range = document.createRange();
      range.selectNodeContents(source);
      window.getSelection().removeAllRanges();
      window.getSelection().addRange(range);
    };
    const tell = (text) => {
      button.textContent = text;
      setTimeout(() => { button.textContent = said; }, 2000);
    };
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(source.textContent);
        tell("Copied");
      } catch {
        select();
        tell(document.execCommand("copy") ? "Copied" : "Selected: copy it with your keyboard");
      }
    });
  });

  // the heat map
  const map = document.getElementById("map");
  if (!map) return;
  const svg = map.querySelector("svg");
  const image = svg.querySelector("image");
  const cursors = [...svg.querySelectorAll(".cursor, .cursor-edge")];
  const readout = document.getElementById("readout");
  const n = data.names.length;
  const left = image.x.baseVal.value, top = image.y.baseVal.value;
  const cell = image.width.baseVal.value / n;
  let here = null, zoom = 1, whole = 0;
  const nats = (value) => (value === null ? "–" : value.toFixed(4));
  const about = (i) =>
    `relevance ${nats(data.relevance[i])}, contribution ${nats(data.contribution[i])}, adds ${nats(data.adds[i])}`;
  const line = (i, text) => {
    const made = write("p", `${i + 1}. `);
    made.append(write("bdi", data.names[i]), `: ${text}`);
    return made;
  };
  const show = (row, column) => {
    here = [row, column];
    cursors.forEach((box) => {
      box.setAttribute("x", left + column * cell);
      box.setAttribute("y", top + row * cell);
      box.setAttribute("visibility", "visible");
    });
    const value = write("p", "");
    if (row === column) {
      value.append(write("strong", nats(data.pairs[row][row])), " nats: what it says alone");
      readout.replaceChildren(line(row, about(row)), value);
      return;
    }
    value.append(
      write("strong", nats(data.pairs[row][column])), " nats: what ", write("bdi", data.names[column]),
      " adds once ", write("bdi", data.names[row]), ` is known; the other way ${nats(data.pairs[column][row])}`,
    );
    readout.replaceChildren(line(column, about(column)), line(row, about(row)), value);
  };
  const find = (event) => {
    const box = image.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left) / box.width) * n);
    const row = Math.floor(((event.clientY - box.top) / box.height) * n);
    if (row >= 0 && row < n && column >= 0 && column < n) show(row, column);
  };
  const magnify = (factor) => {
    const before = zoom;
    if (zoom === 1) whole = svg.getBoundingClientRect().width;
    zoom = Math.min(Math.max(8, n / 4), Math.max(1, zoom * factor));
    svg.style.maxWidth = zoom > 1 ? "none" : "";
    svg.style.width = zoom > 1 ? `${whole * zoom}px` : "";
    if (here) {
      const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
      map.scrollLeft = (left + (here[1] + 0.5) * cell) * scale - map.clientWidth / 2;
      map.scrollTop = (top + (here[0] + 0.5) * cell) * scale - map.clientHeight / 2;
    } else {
      map.scrollLeft *= zoom / before;
      map.scrollTop *= zoom / before;
    }
  };
  const move = (down, right) => {
    const [row, column] = here ?? [0, 0];
    const clamp = (place) => Math.min(n - 1, Math.max(0, place));
    show(here ? clamp(row + down) : 0, here ? clamp(column + right) : 0);
    cursors[0].scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  const keys = {
    ArrowDown: () => move(1, 0), ArrowUp: () => move(-1, 0),
    ArrowRight: () => move(0, 1), ArrowLeft: () => move(0, -1),
    "+": () => magnify(1.5), "-": () => magnify(1 / 1.5), 0: () => magnify(0),
  };
  map.addEventListener("pointermove", find);
  map.addEventListener("pointerdown", find);
  map.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  });
  map.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    magnify(event.deltaY < 0 ? 1.2 : 1 / 1.2);
  }, { passive: false });
  document.getElementById("zoom-in").addEventListener("click", () => magnify(1.5));
  document.getElementById("zoom-out").addEventListener("click", () => magnify(1 / 1.5));
  document.getElementById("zoom-all").addEventListener("click", () => magnify(0));
})();
