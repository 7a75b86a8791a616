"use strict";
// Tables: sort by a column, open what stands below a row, copy a command.
(function () {
  const value = (row, column) => row.cells[column].dataset.order || "";
  const compare = (x, y) => {
    const numbers = x !== "" && y !== "" && !isNaN(x) && !isNaN(y);
    return numbers ? Number(x) - Number(y) : x.localeCompare(y);
  };
  document.querySelectorAll("table.sortable thead th").forEach(head => {
    const button = head.querySelector("button");
    if (!button) return;
    button.addEventListener("click", () => {
      const column = head.cellIndex, body = head.closest("table").tBodies[0];
      const direction = head.getAttribute("aria-sort") === "descending" ? 1 : -1;
      head.parentNode.querySelectorAll("th").forEach(th => th.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
      const rows = Array.from(body.rows).filter(row => !row.classList.contains("card"));
      const below = new Map(rows.map(row => {
        const next = row.nextElementSibling;
        return [row, next && next.classList.contains("card") ? next : null];
      }));
      rows.sort((a, b) => direction * compare(value(a, column), value(b, column)));
      rows.forEach(row => { body.append(row); if (below.get(row)) body.append(below.get(row)); });
    });
  });
  document.querySelectorAll(".disclose").forEach(button => button.addEventListener("click", () => {
    const card = document.getElementById(button.getAttribute("aria-controls"));
    card.hidden = !card.hidden;
    button.setAttribute("aria-expanded", String(!card.hidden));
  }));
  document.querySelectorAll(".copy button").forEach(button => button.addEventListener("click", () => {
    const code = button.parentNode.querySelector("code"), text = code.textContent;
    const done = () => { button.textContent = "copied"; setTimeout(() => { button.textContent = "copy"; }, 1500); };
    const select = () => { getSelection().selectAllChildren(code); document.execCommand("copy"); done(); };
    if (navigator.clipboard && isSecureContext) navigator.clipboard.writeText(text).then(done, select); else select();
  }));
  // What is closed on the screen is open on paper.
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(d => { d.open = true; }));
})();
