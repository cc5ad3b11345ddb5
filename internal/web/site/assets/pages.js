// What a page does besides what its HTML does: times in the reader's zone, what is left, whether the page is up to date, and keys. It writes
// text only, never HTML.
"use strict";

// times writes every time in the zone of the reader, and in a card how much of it is left. The exact time stays in the title. What it writes
// is as wide as what the server wrote, so that nothing moves.
function times(page = document) {
  const two = (n) => String(n).padStart(2, "0");
  const clock = (at) => two(at.getHours()) + ":" + two(at.getMinutes());
  const day = (at) => at.getFullYear() + "-" + two(at.getMonth() + 1) + "-" + two(at.getDate());
  const write = (t, text) => {
    t.firstChild.data = text;
    t.querySelector(".zone").hidden = true; // for browsers whose style sheets do not know that scripts run
  };
  for (const t of page.querySelectorAll("time[datetime]")) {
    const at = new Date(t.dateTime);
    if (t.closest(".left")) {
      const left = Math.max(0, Math.round((at - Date.now()) / 1000));
      write(t, clock(at) + ", " + Math.floor(left / 60) + ":" + two(left % 60) + " left");
    } else if (!t.dataset.local) {
      t.dataset.local = "yes";
      write(t, day(at) + " " + clock(at));
    }
  }
}

// connected says whether the page learns at once what changes.
function connected(yes) {
  const line = document.getElementById("connection");
  if (line) {
    line.hidden = yes;
    line.textContent = yes ? "" : "Not connected: this page may be out of date. It goes on by itself when myc web runs again.";
  }
}

// Cards that come or go move the others. A press that was meant for the card that stood here must not reach the one that came.
const settle = 700; // milliseconds
let main;
let settled;
let order = "";
function layout() {
  const now = Array.from(document.querySelectorAll(".card"), (c) => c.id).join(" ");
  if (order && now !== order && !now.startsWith(order)) {
    main.dataset.moved = "yes";
    clearTimeout(settled);
    settled = setTimeout(() => { delete main.dataset.moved; }, settle);
  }
  order = now;
}

document.addEventListener("submit", (e) => {
  if (e.target.closest("[data-moved] .card")) {
    e.preventDefault();
    e.stopImmediatePropagation(); // htmx would send it all the same
  }
}, true);

// chosen is the card in which the focus is, else the first.
function chosen(cards) {
  return Math.max(0, cards.findIndex((c) => c.contains(document.activeElement)));
}

document.addEventListener("keydown", (e) => {
  const cards = Array.from(document.querySelectorAll(".card"));
  if (e.ctrlKey || e.altKey || e.metaKey || !cards.length || e.target.closest("textarea, input, select")) {
    return;
  }
  const inside = cards.some((c) => c.contains(document.activeElement));
  const at = chosen(cards);
  if (e.key === "j" || e.key === "k") {
    const to = cards[Math.min(cards.length - 1, Math.max(0, inside ? at + (e.key === "j" ? 1 : -1) : 0))];
    to.focus();
    to.scrollIntoView({ block: "nearest" });
  } else if (e.key === "?") {
    const help = document.querySelector(".keys");
    help.open = !help.open;
  } else if (inside && e.key === "r") {
    e.preventDefault();
    cards[at].querySelector("textarea, input[type=text]").focus();
  } else if (inside && !e.repeat) { // an answer is for the card that has the focus, never for one that nobody chose
    const button = cards[at].querySelector('button[data-key="' + CSS.escape(e.key) + '"]');
    if (button) {
      button.click();
    }
  }
});

// sent is the main part as the server sent it. A part that comes again as it was changes nothing: it would take away what somebody is
// about to press.
let sent = "";
document.addEventListener("htmx:beforeSwap", (e) => {
  if (e.detail.target !== main) {
    return;
  }
  const page = new DOMParser().parseFromString(e.detail.serverResponse, "text/html").getElementById("view");
  const now = page ? page.outerHTML : "";
  if (now && now === sent && e.detail.requestConfig.elt === main) {
    e.detail.shouldSwap = false;
  }
  sent = now;
});

document.addEventListener("htmx:afterSwap", () => times()); // before it is drawn, so that nothing moves
document.addEventListener("htmx:afterSettle", () => { layout(); times(); });
document.addEventListener("htmx:sseOpen", () => connected(true));
document.addEventListener("htmx:sseError", () => connected(false));
document.addEventListener("htmx:sendError", () => connected(false));
if ("serviceWorker" in navigator) { // it shows notifications, and says when the pages cannot be reached
  navigator.serviceWorker.register("/sw.js").catch(() => {});
}

// begin is called for each page that is shown. was is its main part as the server sent it.
function begin(was) {
  main = document.getElementById("main");
  sent = was;
  order = "";
  layout();
  times();
}
begin(document.getElementById("main").innerHTML.trim());
setInterval(() => times(), 1000);
