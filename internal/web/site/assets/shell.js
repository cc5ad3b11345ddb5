// What stands in every page before there is one: it asks for the page with the key of this browser and puts it here, signs all that the
// page asks for from then on, and signs the browser in. Without a key nothing of a person is shown.
"use strict";

{
  const shell = document.getElementById("shell");

  // Every request of a page is signed, by whichever of the three ways it is sent.
  window.fetch = ownKey.fetch;

  const { open, send, abort } = XMLHttpRequest.prototype;
  const asked = new WeakMap(); // what a request asks for, until it is sent
  XMLHttpRequest.prototype.open = function (method, url) {
    asked.set(this, { method: String(method).toUpperCase(), url: new URL(url, location.href).href });
    open.call(this, method, url, true);
  };
  XMLHttpRequest.prototype.send = function (body) {
    const ask = asked.get(this);
    const text = body === null || body === undefined ? "" : body;
    if (typeof text !== "string") {
      throw new TypeError("Only text is signed.");
    }
    ownKey.sign(ask.method, ask.url, new TextEncoder().encode(text)).then((headers) => {
      if (asked.get(this) !== ask) {
        return; // it was given up
      }
      asked.delete(this);
      for (const [name, value] of Object.entries(headers)) {
        this.setRequestHeader(name, value);
      }
      send.call(this, body);
    }, () => this.dispatchEvent(new ProgressEvent("error")));
  };
  XMLHttpRequest.prototype.abort = function () {
    if (asked.delete(this)) {
      this.dispatchEvent(new ProgressEvent("abort"));
      this.dispatchEvent(new ProgressEvent("loadend"));
    } else {
      abort.call(this);
    }
  };

  // A page that is being left ends its streams. That is no error, and nobody is told.
  let left = false;
  window.addEventListener("pagehide", () => { left = true; });
  window.addEventListener("pageshow", () => { left = false; });

  // A stream of events, as EventSource is one, over requests that are signed.
  window.EventSource = class EventSource extends EventTarget {
    static CONNECTING = 0;
    static OPEN = 1;
    static CLOSED = 2;
    readyState = 0;
    onopen = null;
    onerror = null;
    #end = new AbortController();
    #last = "";
    #retry = 1000;

    constructor(url) {
      super();
      this.url = new URL(url, location.href).href;
      this.#run();
    }

    close() {
      this.readyState = 2;
      this.#end.abort();
    }

    #tell(name) {
      const e = new Event(name);
      this.dispatchEvent(e);
      if (this["on" + name]) {
        this["on" + name](e);
      }
    }

    async #run() {
      while (this.readyState !== 2) {
        try {
          await this.#read();
        } catch { // the connection has ended: begin anew
        }
        if (this.readyState === 2) {
          return;
        }
        this.readyState = 0;
        ownKey.ended();
        if (!left) {
          this.#tell("error");
        }
        await new Promise((done) => setTimeout(done, this.#retry));
      }
    }

    async #read() {
      const headers = { Accept: "text/event-stream" };
      if (this.#last) {
        headers["Last-Event-ID"] = this.#last;
      }
      const r = await fetch(this.url, { headers: headers, signal: this.#end.signal });
      if (!r.ok) { // it is refused, and would be again
        this.readyState = 2;
        this.#tell("error");
        return;
      }
      this.readyState = 1;
      this.#tell("open");
      const reader = r.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) {
          return;
        }
        text += value;
        const events = text.split("\n\n"); // the server ends lines so
        text = events.pop();
        events.forEach((e) => this.#take(e));
      }
    }

    #take(event) {
      let kind = "message";
      const data = [];
      for (const line of event.split("\n")) {
        const at = line.indexOf(": ");
        const [name, value] = [line.slice(0, at), line.slice(at + 2)];
        if (name === "event") {
          kind = value;
        } else if (name === "data") {
          data.push(value);
        } else if (name === "id") {
          this.#last = value;
        } else if (name === "retry") {
          this.#retry = Number(value) || 1000;
        }
      }
      if (data.length) {
        this.dispatchEvent(new MessageEvent(kind, { data: data.join("\n"), lastEventId: this.#last }));
      }
    }
  };

  // arrived waits until an element has loaded what it names.
  const arrived = (e) => new Promise((done) => { e.onload = e.onerror = done; });

  // put shows a page that the server made in the place of the one that is shown.
  async function put(text) {
    const page = new DOMParser().parseFromString(text, "text/html");
    const missing = (selector, name) => Array.from(page.querySelectorAll(selector)).filter((e) =>
      !document.querySelector(selector + "[" + name + '="' + CSS.escape(e.getAttribute(name)) + '"]'));
    await Promise.all(missing("link[rel=stylesheet]", "href").map((l) => {
      const there = arrived(l);
      document.head.append(l);
      return there;
    }));
    const scripts = missing("script[src]", "src");
    document.title = page.title;
    const was = page.getElementById("main").innerHTML.trim();
    times(page); // before it is drawn, so that nothing moves
    for (const a of page.body.attributes) {
      document.body.setAttribute(a.name, a.value);
    }
    document.body.replaceChildren(...page.body.childNodes);
    begin(was);
    htmx.process(document.body);
    document.body.inert = true; // a press before the scripts are there would be lost
    await Promise.all(scripts.map((s) => { // a script that was parsed elsewhere does not run
      const own = document.createElement("script");
      own.src = s.getAttribute("src");
      own.async = false;
      const there = arrived(own);
      document.head.append(own);
      return there;
    }));
    document.body.inert = false;
    document.dispatchEvent(new Event("pages:ready"));
    const at = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (at) {
      at.scrollIntoView();
    } else {
      scrollTo(0, (history.state && history.state.at) || 0);
    }
  }

  // save has the browser keep what the server sent as a file.
  async function save(r) {
    const named = /filename="([^"]+)"/.exec(r.headers.get("Content-Disposition") || "");
    const a = document.createElement("a");
    a.href = URL.createObjectURL(await r.blob());
    a.download = named ? named[1] : "download";
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 60000);
  }

  // show shows what the server answered: a page, or something to keep.
  async function show(r) {
    const to = r.headers.get("Page-Location");
    if (to) {
      const at = new URL(to, location.href);
      if (at.pathname + at.search === location.pathname + location.search) {
        location.reload();
      } else {
        location.assign(at.href);
      }
    } else if ((r.headers.get("Content-Type") || "").startsWith("text/html")) {
      await put(await r.text());
    } else {
      await save(r);
    }
  }

  // say shows one of the texts of the shell, and what more there is to say.
  function say(which, more) {
    if (!shell.isConnected) {
      location.assign("/sign-in");
      return;
    }
    for (const part of shell.querySelectorAll("[data-part]")) {
      part.hidden = part.dataset.part !== which;
    }
    const problem = shell.querySelector(".problem");
    problem.textContent = more || "";
    problem.hidden = !more;
    shell.hidden = false;
  }

  // secret is that of the link by which the page was opened; "": by none. In a picture it stands in the path.
  const secret = () => {
    const path = /^\/P\/([A-Z2-7]+)/.exec(location.pathname);
    return path ? path[1] : location.pathname === "/sign-in" && new URLSearchParams(location.hash.slice(1)).get("link") || "";
  };

  async function start() {
    if (!isSecureContext || !window.indexedDB) {
      say("unsafe");
      return;
    }
    if (secret()) {
      say("link");
      return;
    }
    if (location.pathname === "/sign-in" || !await ownKey.device()) {
      say("how");
      return;
    }
    const r = await fetch(location.pathname + location.search, { headers: { Accept: "text/html" } });
    if (r.status === 401) {
      say("how", (await r.text()).trim());
      return;
    }
    await show(r);
  }

  shell.querySelector("button").addEventListener("click", async (e) => {
    e.target.disabled = true;
    try {
      await ownKey.signIn(secret());
      location.replace("/inbox");
    } catch (err) {
      say("how", err.message);
    }
  });

  // A form is sent by a request that is signed, and what comes back is shown. Forms that htmx sends are not seen here.
  const busy = new WeakSet();
  document.addEventListener("submit", async (e) => {
    const form = e.target;
    if (e.defaultPrevented || form.getAttribute("method") !== "post") {
      return;
    }
    e.preventDefault();
    if (busy.has(form)) {
      return;
    }
    busy.add(form);
    try {
      const action = form.getAttribute("action");
      const r = await fetch(action, { method: "POST", body: new URLSearchParams(new FormData(form, e.submitter)),
        headers: { "Page-Form": "yes" } });
      if (action === "/sign-out" && r.ok) {
        await ownKey.forget();
      }
      history.replaceState(null, "");
      await show(r);
    } catch {
      connected(false);
    }
    busy.delete(form);
  });

  document.addEventListener("click", async (e) => {
    const link = e.target.closest("a[download]");
    if (!link || link.origin !== location.origin) {
      return;
    }
    e.preventDefault();
    try {
      await show(await fetch(link.href));
    } catch {
      connected(false);
    }
  });

  // Where a reader was in a page is kept with its place in the history: a page comes after the browser has looked for it.
  addEventListener("pagehide", () => history.replaceState({ at: scrollY }, ""));

  ownKey.began(shell.dataset.run, Number(shell.dataset.now));
  start().catch((err) => say("how", "The page could not be loaded. " + err.message));
}
