// The editor of files that govern: a problem leads to its place in the text, and a link to a line does too. Without this script the place
// stands beside the problem.
"use strict";

// goTo puts the cursor at a line and column of the text, both from 1, and scrolls there.
function goTo(line, column) {
  const area = document.getElementById("text");
  if (!area || !line) {
    return;
  }
  const lines = area.value.split("\n");
  const before = lines.slice(0, line - 1).reduce((sum, l) => sum + l.length + 1, 0);
  const text = lines[line - 1] || "";
  const start = before + Array.from(text).slice(0, Math.max(0, column - 1)).join("").length;
  area.focus();
  area.setSelectionRange(start, before + text.length);
  const height = parseFloat(getComputedStyle(area).lineHeight);
  area.scrollTop = Math.max(0, (line - 4) * height);
}

document.addEventListener("click", (e) => {
  const at = e.target.closest("button[data-line]");
  if (at) {
    goTo(Number(at.dataset.line), Number(at.dataset.column) || 1);
  }
});

const named = /^#L(\d+)$/.exec(location.hash);
if (named) {
  goTo(Number(named[1]), 1);
}

// What was written and not saved is not lost by a click.
let saving = false;
document.addEventListener("submit", () => { saving = true; });
addEventListener("beforeunload", (e) => {
  const area = document.getElementById("text");
  if (area && !saving && area.value !== area.defaultValue) {
    e.preventDefault();
  }
});
