// The worker of the pages: it shows notifications, sends what their buttons answer, and says so when the pages cannot be reached. It keeps
// no page and nothing that a page shows: only what says that it is offline.
"use strict";

importScripts("/assets/sign.js");

const kept = "mycelium-offline-1";
const offline = "/assets/offline.html";
const files = [offline, "/assets/pages.css", "/assets/icon.svg"];

self.addEventListener("install", (e) => {
  e.waitUntil(caches.open(kept).then((c) => c.addAll(files)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (e) => {
  e.waitUntil((async () => {
    for (const name of await caches.keys()) {
      if (name !== kept) {
        await caches.delete(name);
      }
    }
    await self.clients.claim();
  })());
});

// What pages ask for goes to the server as they send it: the worker signs nothing for a page, and nothing that another site leads to.
self.addEventListener("fetch", (e) => {
  const at = new URL(e.request.url);
  if (e.request.method !== "GET" || at.origin !== self.location.origin) {
    return;
  }
  if (e.request.mode === "navigate") {
    e.respondWith(fetch(e.request).catch(() => caches.match(offline)));
  } else if (files.includes(at.pathname)) {
    e.respondWith(fetch(e.request).catch(() => caches.match(at.pathname)));
  }
});

// show shows a text as it is: a notification knows no HTML.
function show(title, options) {
  return self.registration.showNotification(title, { icon: "/assets/icon-192.png", badge: "/assets/icon-192.png", ...options });
}

// message is what the server sent, or null.
function message(data) {
  try {
    const m = data.json();
    return typeof m.tag === "string" && typeof m.title === "string" ? m : null;
  } catch {
    return null;
  }
}

self.addEventListener("push", (e) => {
  const m = message(e.data);
  if (!m) {
    e.waitUntil(show("Mycelium", { body: "Something waits: open the inbox.", tag: "unknown", data: { url: "/inbox" } }));
    return;
  }
  const options = { body: m.body, tag: m.tag, data: { url: m.url } };
  if (m.kind !== "waits") { // it takes the place of the one whose request has ended
    e.waitUntil(show(m.title, { ...options, silent: true }));
    return;
  }
  const late = m.until && Date.now() >= m.until;
  if (m.ticket && !late) {
    options.actions = [{ action: "allow", title: m.yes }, { action: "deny", title: m.no }];
    options.data.ticket = m.ticket;
  }
  e.waitUntil(show(m.title, { ...options, requireInteraction: !late }));
});

// answer sends what a button says. The ticket is good once, so a second press of it changes nothing.
async function answer(ticket, said, tag) {
  let problem = "The pages cannot be reached. Open the inbox when they can.";
  try {
    const r = await ownKey.fetch("/push/answer", { method: "POST",
      headers: { "Content-Type": "application/json" }, body: JSON.stringify({ ticket: ticket, answer: said }) });
    if (r.ok) {
      return;
    }
    problem = r.status === 401 ? "This browser is not signed in any more." : (await r.text()).slice(0, 300);
  } catch { // the text above says it
  }
  await show("Your answer was not taken", { body: problem, tag: tag, data: { url: "/inbox" } });
}

// open shows a page of this site in a window that is open, else in a new one.
async function open(url) {
  const at = new URL(url || "/inbox", self.location.origin);
  if (at.origin !== self.location.origin) {
    return;
  }
  for (const c of await self.clients.matchAll({ type: "window" })) {
    try {
      await c.focus();
      await c.navigate(at.href);
      return;
    } catch { // it is not ours to move: the next, or a new one
    }
  }
  await self.clients.openWindow(at.href);
}

self.addEventListener("notificationclick", (e) => {
  const n = e.notification;
  const data = n.data || {};
  n.close();
  e.waitUntil(data.ticket && (e.action === "allow" || e.action === "deny") ? answer(data.ticket, e.action, n.tag) : open(data.url));
});
