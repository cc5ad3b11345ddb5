// Terminals of workers, drawn by xterm.js. What they show comes from the server as text with colours and movements of the cursor; no link
// in it can be opened, and it cannot reach the clipboard or the title. Without this script, a page has the last lines as text.
"use strict";

// The pages may hold no style that stands in them (their Content-Security-Policy), and xterm.js makes elements <style> and, for exact
// colours, attributes style. It is given a document whose elements <style> are sheets of the page instead, and an attribute style of a
// <span> is set as the style of the element: a script of ours may do both.
function styling() {
  const make = (name, options) => String(name).toLowerCase() === "style" ? sheetFor() : document.createElement(name, options);
  return new Proxy(document, {
    get(target, key) {
      if (key === "createElement") {
        return make;
      }
      const value = Reflect.get(target, key);
      return typeof value === "function" ? value.bind(target) : value;
    },
    set: (target, key, value) => Reflect.set(target, key, value),
  });
}

HTMLSpanElement.prototype.setAttribute = function setAttribute(name, value) {
  if (name === "style") {
    this.style.cssText = value;
  } else {
    Element.prototype.setAttribute.call(this, name, value);
  }
};

// sheetFor is an element that stands for a <style>: its text is a sheet of the page while it is in the page.
function sheetFor() {
  const sheet = new CSSStyleSheet();
  const stand = document.createElement("span");
  stand.hidden = true;
  Object.defineProperty(stand, "textContent", { get: () => "", set: (text) => sheet.replaceSync(text) });
  const remove = stand.remove.bind(stand);
  stand.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((s) => s !== sheet);
    remove();
  };
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  return stand;
}

const dark = matchMedia("(prefers-color-scheme: dark)");

// theme is how a terminal looks: sixteen colours that can be read on their ground.
function theme() {
  return dark.matches
    ? { background: "#141715", foreground: "#e6e9e5", cursor: "#8fd0aa", selectionBackground: "#3d5347", black: "#3b423e", red: "#ff9d8f",
        green: "#8fd0aa", yellow: "#f0c674", blue: "#9cc3f5", magenta: "#e0b0e8", cyan: "#86d3d8", white: "#d5d9d5", brightBlack: "#8b948e",
        brightRed: "#ffb8ad", brightGreen: "#aee0c2", brightYellow: "#f7d995", brightBlue: "#b9d5f9", brightMagenta: "#ecc9f2",
        brightCyan: "#a8e3e7", brightWhite: "#ffffff" }
    : { background: "#ffffff", foreground: "#1d211f", cursor: "#23603f", selectionBackground: "#cfe3d7", black: "#1d211f", red: "#9b2c1f",
        green: "#23603f", yellow: "#7a5200", blue: "#1f4f99", magenta: "#7a2f86", cyan: "#0b6067", white: "#59615c", brightBlack: "#59615c",
        brightRed: "#b03a2c", brightGreen: "#2c7850", brightYellow: "#865b00", brightBlue: "#2a61b8", brightMagenta: "#8f3d9c",
        brightCyan: "#0f717a", brightWhite: "#1d211f" };
}

const overridden = styling();
const shown = new Map(); // by worker

// terminalIn makes a terminal in an element, in the place of its text.
function terminalIn(element, options) {
  const t = new Terminal({ cols: 80, rows: 24, scrollback: 0, disableStdin: true, cursorInactiveStyle: "outline", fontSize: 13,
    fontFamily: getComputedStyle(document.documentElement).getPropertyValue("--mono"), theme: theme(), documentOverride: overridden,
    linkHandler: { activate() {}, allowNonHttpProtocols: false }, minimumContrastRatio: 4.5, ...options });
  for (const osc of [0, 1, 2, 8, 52]) { // titles, links and the clipboard: the server sends none of them
    t.parser.registerOscHandler(osc, () => true);
  }
  element.replaceChildren();
  t.open(element);
  dark.addEventListener("change", () => { t.options.theme = theme(); });
  return t;
}

// show draws a piece of output.
function show(t, out) {
  if (out.whole) {
    t.reset();
  }
  if (out.columns && (t.cols !== out.columns || t.rows !== out.rows)) {
    t.resize(out.columns, out.rows);
  }
  t.write(out.data);
}

const state = document.getElementById("terminal-state");

// say tells a person how the terminals stand.
function say(text) {
  if (state && state.textContent !== text) {
    state.textContent = text;
  }
}

// follow takes the output of a stream.
function follow(address, take) {
  const source = new EventSource(address);
  source.addEventListener("connected", () => say("As it is now."));
  source.addEventListener("output", (e) => take(JSON.parse(e.data)));
  source.onerror = () => say("Not connected: this may be out of date. It goes on by itself when myc web runs again.");
  addEventListener("pagehide", () => source.close());
  return source;
}

// one is the page of one terminal.
function one(element) {
  const keys = document.getElementById("keys");
  const t = terminalIn(element, { scrollback: 1000, disableStdin: !keys, cursorBlink: false });
  follow(element.title, (out) => {
    show(t, out);
    if (out.ended) {
      say("It does not work now: this is its log.");
    }
  });
  element.removeAttribute("title");
  if (!keys) {
    return;
  }
  // Keys go one after the other, in the order in which they were pressed.
  let waiting = "";
  let busy = false;
  const send = async () => {
    if (busy || !waiting) {
      return;
    }
    busy = true;
    const now = waiting.slice(0, 1000);
    waiting = waiting.slice(now.length);
    try {
      const r = await fetch(keys.action, { method: "POST", body: new URLSearchParams({ keys: now }), headers: { "X-Script": "yes" } });
      if (!r.ok) {
        waiting = "";
        say(await r.text());
      }
    } catch {
      waiting = "";
      say("What you typed did not reach the server.");
    }
    busy = false;
    send();
  };
  t.onData((data) => {
    waiting += data;
    send();
  });
  t.focus();
  document.addEventListener("pages:ready", () => t.focus(), { once: true });
}

// wall is the page of all terminals.
function wall(element) {
  for (const tile of element.querySelectorAll(".tile")) {
    shown.set(tile.id.slice(2), terminalIn(tile, { fontSize: 11 }));
  }
  follow(element.title, (out) => {
    const t = shown.get(out.worker);
    if (!t) {
      say("There are new workers: load the page anew to see them.");
    } else if (out.ended) {
      t.write("\r\n\x1b[7m ended \x1b[0m");
    } else {
      show(t, out);
    }
  });
  element.removeAttribute("title");
}

const single = document.getElementById("terminal");
const many = document.getElementById("wall");
if (single) {
  one(single);
} else if (many) {
  wall(many);
}
