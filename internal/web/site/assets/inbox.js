// What the pages of the inbox do besides what their HTML does: an answer that was refused is shown like one that was taken, and what others
// have answered can be taken off the page.
"use strict";

document.addEventListener("htmx:beforeSwap", (e) => {
  const page = (e.detail.xhr.getResponseHeader("Content-Type") || "").startsWith("text/html");
  if (e.detail.target.id === "main" && e.detail.xhr.status >= 400 && page) {
    e.detail.shouldSwap = true;
    e.detail.isError = false;
  }
});

document.addEventListener("click", (e) => {
  if (e.target.matches("[data-dismiss]")) {
    e.target.closest(".card").remove();
  }
});

// What somebody had written stays in view when the call was answered elsewhere.
function typed() {
  for (const d of document.querySelectorAll("details.typed")) {
    const empty = Array.from(d.querySelectorAll("textarea, input")).every((f) => f.value === "");
    d.hidden = empty;
    d.open = !empty;
  }
}
document.addEventListener("htmx:afterSettle", typed);
typed();
