// Notifications of this browser, on or off, by a button. It is shown where they can be had, and says why where they cannot. It is in a
// block of its own, because a page loads other scripts too.
"use strict";

{
  // bytes reads base64url.
  const bytes = (text) => {
    return Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  };

  const post = async (path, body) => {
    const r = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body || {}) });
    if (!r.ok) {
      throw new Error(await r.text());
    }
  };

  const digest = async (text) => {
    const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
    return Array.from(sum, (b) => b.toString(16).padStart(2, "0")).join("");
  };

  const notify = {
    key: "", on: false, problem: "", busy: false,

    // look asks the server and the browser whether notifications are on: both must say so.
    async look() {
      const r = await fetch("/push");
      const said = r.ok ? await r.json() : {};
      this.key = said.key || "";
      const worker = await navigator.serviceWorker.getRegistration("/");
      const sub = worker && await worker.pushManager.getSubscription();
      this.on = !!(said.on && sub && said.at === await digest(sub.endpoint) && Notification.permission === "granted");
    },

    async turnOn() {
      if (await Notification.requestPermission() !== "granted") {
        throw new Error("This browser refuses notifications of this page: its settings say so.");
      }
      const worker = await navigator.serviceWorker.ready;
      const before = await worker.pushManager.getSubscription();
      if (before) { // it may be bound to a key that we do not have any more
        await before.unsubscribe();
      }
      const sub = await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes(this.key) });
      await post("/push/subscribe", sub.toJSON());
    },

    async turnOff() {
      await post("/push/unsubscribe");
      const worker = await navigator.serviceWorker.getRegistration("/");
      const sub = worker && await worker.pushManager.getSubscription();
      if (sub) {
        await sub.unsubscribe();
      }
    },

    show() {
      const line = document.getElementById("notify");
      if (!line || !this.key) {
        return;
      }
      const button = line.querySelector("button");
      line.querySelector("span").textContent = this.problem ||
        (this.on ? "This browser is told of each call that waits for you." : "This browser is not told when a call waits for you.");
      line.classList.toggle("warn", !!this.problem);
      button.textContent = this.on ? "Turn notifications off" : "Notify me in this browser";
      button.disabled = this.busy;
      line.hidden = this.on && !line.closest("[data-always]");
    },

    async press() {
      this.busy = true;
      this.problem = "";
      this.show();
      try {
        await (this.on ? this.turnOff() : this.turnOn());
      } catch (e) {
        this.problem = "Notifications were not changed: " + e.message;
      }
      this.busy = false;
      await this.look();
      this.show();
    },
  };

  document.addEventListener("click", (e) => {
    if (e.target.closest("#notify button")) {
      notify.press();
    }
  });

  if ("serviceWorker" in navigator && "PushManager" in window && "Notification" in window) {
    document.addEventListener("htmx:afterSettle", () => notify.show());
    notify.look().then(() => notify.show(), () => {});
  }
}
