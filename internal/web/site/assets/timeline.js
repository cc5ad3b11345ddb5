// Rows of a log load as one scrolls, in groups, and no more than most of them are on the page: what has been scrolled past is taken off
// and comes again. What is recorded while the page is open comes at its top. Without this script "Newer" and "Older" are links.
"use strict";

const most = 400; // rows on the page

(() => {
  const rows = document.getElementById("rows");
  if (!rows) {
    return;
  }
  const groups = () => Array.from(rows.querySelectorAll(":scope > .group"));
  const count = () => rows.querySelectorAll(".entry, .said, .change").length;
  let height = 0; // of the page before something came at the top
  let before = 0; // how far it was scrolled then
  let down = true; // the last group came at the bottom

  // drop takes groups off the end that the reader has left behind. Where the browser does not keep what is read in its place, this does.
  function drop() {
    while (groups().length > 1 && count() > most) {
      const gone = down ? groups()[0] : groups().at(-1);
      const from = document.documentElement.scrollHeight;
      gone.remove();
      if (down && !CSS.supports("overflow-anchor", "auto")) {
        window.scrollBy(0, document.documentElement.scrollHeight - from);
      }
    }
  }

  document.addEventListener("htmx:beforeSwap", (e) => {
    const asked = e.detail.requestConfig && e.detail.requestConfig.elt;
    if (asked && asked.closest(".more")) {
      down = asked.closest(".older") !== null;
      height = document.documentElement.scrollHeight;
      before = window.scrollY;
    }
  });
  document.addEventListener("htmx:afterSettle", () => {
    if (height && !down && before > 0 && !CSS.supports("overflow-anchor", "auto")) {
      window.scrollBy(0, document.documentElement.scrollHeight - height);
    }
    height = 0;
    drop();
  });

  // fresh gets what was recorded since the first row, if the reader is there; else it says that there is something.
  const fresh = document.getElementById("fresh");
  function more() {
    const first = rows.querySelector(".newer a");
    if (first && first.closest(".newest") && window.scrollY < 300) {
      htmx.trigger(first, "up");
      fresh.hidden = true;
    } else if (!rows.querySelector(".group")) {
      location.reload(); // the first row of all
    } else {
      fresh.hidden = false;
    }
  }

  rows.addEventListener("htmx:sseMessage", (e) => {
    const [project, session] = String(e.detail.data).split(" ");
    const mine = rows.dataset.sessions ? rows.dataset.sessions.split(" ") : [];
    if (project !== rows.dataset.project || mine.length && session !== "*" && !mine.includes(session)) {
      return;
    }
    for (const open of Array.from(rows.querySelectorAll(".entry[data-open]")).slice(0, 20)) {
      htmx.trigger(open, "look");
    }
    more();
  });

  let at = window.scrollY;
  document.addEventListener("scroll", () => {
    const first = rows.querySelector(".newer:not(.newest) a");
    if (window.scrollY < at && first && first.getBoundingClientRect().top > -800) {
      htmx.trigger(first, "up");
    }
    at = window.scrollY;
  }, { passive: true });
})();
