
"use strict";
(() => {
  const root = document.documentElement;
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
  const label = () => { toggle.textContent = isDark() ? "Light mode" : "Dark mode"; };
  if (["light", "dark"].includes(recall())) root.dataset.theme = recall();
  toggle.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    remember(root.dataset.theme);
    label();
  });
  label();

  // sort tables by a column
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

  // on narrow screens each row is a card, and each cell has its head
  document.querySelectorAll("table.many").forEach((table) => {
    const heads = [...table.tHead.rows[0].cells].map((head) => head.textContent);
    [...table.tBodies[0].rows].forEach((row) => {
      [...row.cells].forEach((cell, place) => { cell.dataset.head = heads[place]; });
    });
  });

  // copy code
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

  // search the list of columns
  const search = document.getElementById("search");
  if (search) {
    const rows = [...document.getElementById("columns").tBodies[0].rows];
    search.addEventListener("input", () => {
      const wanted = search.value.toLowerCase();
      rows.forEach((row) => { row.hidden = !row.textContent.toLowerCase().includes(wanted); });
      const n = rows.filter((row) => !row.hidden).length;
      document.getElementById("found").textContent = wanted ? `${n} of ${rows.length} columns` : "";
    });
  }

  // print folded parts, too, except for long lists
  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open], .screen)")];
    opened.forEach((each) => { each.open = true; });
  });
  window.addEventListener("afterprint", () => opened.forEach((each) => { each.open = false; }));
})();
