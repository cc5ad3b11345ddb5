// The key of this browser, and what it signs. The key was made here, cannot be read by any script, and is kept by the browser for this
// address with its port. Each request to the pages is signed with it (RFC 9421); nothing else shows that it comes from a person. The pages
// and their worker load this.
"use strict";

{
  const plain = self.fetch.bind(self);

  // What the server says of itself: its run, and by how much its clock is ahead of ours.
  const server = { run: "", ahead: 0 };
  const learn = (r) => {
    server.run = r.headers.get("Mycelium-Run") || server.run;
    const now = Date.parse(r.headers.get("Date"));
    server.ahead = now ? now - Date.now() : server.ahead;
  };

  // store does something with what the browser keeps.
  const store = (mode, act) => new Promise((done, failed) => {
    const opened = indexedDB.open("mycelium", 1);
    opened.onupgradeneeded = () => opened.result.createObjectStore("keys");
    opened.onerror = () => failed(opened.error);
    opened.onsuccess = () => {
      const t = opened.result.transaction("keys", mode);
      const q = act(t.objectStore("keys"));
      t.oncomplete = () => { opened.result.close(); done(q.result); };
      t.onabort = () => { opened.result.close(); failed(t.error); };
    };
  });
  const device = () => store("readonly", (s) => s.get("device"));

  const to64 = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)));
  const bytes = (text) => new TextEncoder().encode(text);

  // sign returns the headers that sign a request. body are its bytes. It fails where there is no key.
  async function sign(method, url, body) {
    if (!server.run) {
      learn(await plain("/health", { credentials: "omit", cache: "no-store" }));
    }
    const own = await device();
    if (!own) {
      throw new Error("This browser is not signed in.");
    }
    const at = new URL(url, self.location.href);
    if (at.origin !== self.location.origin) {
      throw new Error("A request to another site is not signed.");
    }
    const digest = "sha-256=:" + to64(await crypto.subtle.digest("SHA-256", body)) + ":";
    const nonce = Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
    const input = '("@method" "@target-uri" "content-digest" "mycelium-run");created=' + Math.floor((Date.now() + server.ahead) / 1000) +
      ';keyid="' + own.id + '";nonce="' + nonce + '";alg="ecdsa-p256-sha256";tag="mycelium-pages"';
    const base = '"@method": ' + method + '\n"@target-uri": ' + at.origin + at.pathname + at.search + '\n"content-digest": ' + digest +
      '\n"mycelium-run": ' + server.run + '\n"@signature-params": ' + input;
    const signed = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, own.key, bytes(base));
    return { "Content-Digest": digest, "Mycelium-Run": server.run, "Signature-Input": "pages=" + input, Signature: "pages=:" + to64(signed) + ":" };
  }

  // ask is fetch with a signature. If the server began anew, or our clock is wrong, it asks once more.
  async function ask(input, init) {
    const r = new Request(input, init);
    const body = r.method === "GET" || r.method === "HEAD" ? undefined : await r.arrayBuffer();
    const send = async () => {
      const headers = new Headers(r.headers);
      for (const [name, value] of Object.entries(await sign(r.method, r.url, body || new ArrayBuffer(0)))) {
        headers.set(name, value);
      }
      return plain(r.url, { method: r.method, headers: headers, body: body, signal: r.signal, redirect: r.redirect, credentials: "omit",
        cache: "no-store" });
    };
    const got = await send();
    if (got.status !== 401 || !["run", "time"].includes(got.headers.get("Mycelium-Refused"))) {
      return got;
    }
    learn(got);
    return send();
  }

  // signIn makes a key, and has the server take it for that of a device, by a link of myc web. It fails with what the server says.
  async function signIn(link) {
    const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign"]);
    await store("readwrite", (s) => s.put({ key: pair.privateKey }, "next")); // where nothing can be kept, the link stays good
    const key = to64(await crypto.subtle.exportKey("spki", pair.publicKey));
    const r = await plain("/sign-in", { method: "POST", headers: { "Content-Type": "application/json" }, credentials: "omit",
      body: JSON.stringify({ link: link, key: key }) });
    if (!r.ok) {
      throw new Error((await r.text()).trim());
    }
    const id = (await r.json()).device;
    await store("readwrite", (s) => { s.delete("next"); return s.put({ id: id, key: pair.privateKey }, "device"); });
  }

  self.ownKey = { device: device, sign: sign, fetch: ask, signIn: signIn, forget: () => store("readwrite", (s) => s.delete("device")),
    ended: () => { server.run = ""; }, // of a server that has gone: the next one is asked for its run first
    began: (run, now) => { server.run = run; server.ahead = now - Date.now(); } };
}
