// Passkeys: on the page of this browser they are added and removed, and in the inbox one is shown for a critical answer if that is demanded.
// It is in a block of its own, because a page loads other scripts too.
"use strict";

{
  const from64 = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  const to64 = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "");

  const send = async (path, body) => {
    const r = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    if (!r.ok) {
      throw new Error((await r.text()).trim());
    }
    return r.status === 204 ? null : r.json();
  };

  // prove shows a passkey for an act.
  const prove = async (act) => {
    const ask = await send("/passkey/ask", act);
    if (!ask.keys.length) {
      throw new Error("No passkey of yours is good at " + ask.host + ". Add one at /device.");
    }
    const c = await navigator.credentials.get({ publicKey: { challenge: from64(ask.challenge), rpId: ask.host, userVerification: "required",
      allowCredentials: ask.keys.map((id) => ({ type: "public-key", id: from64(id) })) } });
    await send("/passkey/prove", { challenge: ask.challenge, response: { id: to64(c.rawId), clientData: to64(c.response.clientDataJSON),
      authData: to64(c.response.authenticatorData), signature: to64(c.response.signature) } });
  };

  const add = async () => {
    const ask = await send("/passkey/ask", { act: "new" });
    if (ask.proof) {
      await prove({ act: "add" });
    }
    const c = await navigator.credentials.create({ publicKey: { challenge: from64(ask.challenge), rp: { id: ask.host, name: "Mycelium" },
      user: { id: new TextEncoder().encode(ask.user), name: ask.name, displayName: ask.name },
      pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: "public-key", alg: alg })),
      authenticatorSelection: { userVerification: "required", residentKey: "discouraged" }, attestation: "none",
      excludeCredentials: ask.keys.map((id) => ({ type: "public-key", id: from64(id) })) } });
    await send("/passkey/add", { challenge: ask.challenge, response: { id: to64(c.rawId), clientData: to64(c.response.clientDataJSON),
      authData: to64(c.response.getAuthenticatorData()), key: to64(c.response.getPublicKey()) } });
  };

  const demanded = async () => (await (await fetch("/passkey")).json()).demanded;

  const acts = {
    new: add,
    demand: () => send("/passkey/demand", { on: true }),
    free: async () => {
      await prove({ act: "free" });
      await send("/passkey/demand", { on: false });
    },
    remove: async (id) => {
      if (await demanded()) {
        await prove({ act: "remove", id: id });
      }
      await send("/passkey/remove", { id: id });
    },
  };

  // problem says on the page why something was not done.
  const problem = (near, text) => {
    let line = near.querySelector(".passkey-problem") || document.getElementById("passkey-problem");
    if (!line) {
      line = document.createElement("p");
      line.className = "problem passkey-problem";
      line.setAttribute("role", "alert");
      near.append(line);
    }
    line.textContent = text;
    line.hidden = false;
  };

  document.addEventListener("click", async (e) => {
    const button = e.target.closest("button[data-passkey]");
    if (!button) {
      return;
    }
    button.disabled = true;
    try {
      await acts[button.dataset.passkey](button.value);
      location.reload();
    } catch (err) {
      button.disabled = false;
      problem(button.closest("section"), "Nothing was changed. " + err.message);
    }
  });

  // present is the form that stands where one stood: the list may have been loaded anew while the passkey was shown. It is for the same
  // request as it was shown, or there is none.
  const present = (form, digest) => form.isConnected ? form : Array.from(document.forms).find((f) =>
    f.getAttribute("action") === form.getAttribute("action") && f.elements.digest && f.elements.digest.value === digest);

  // repeat puts what was said in one form into another.
  const repeat = (said, form) => {
    for (const field of form.elements) {
      if (field.type === "checkbox" || field.type === "radio") {
        field.checked = said.getAll(field.name).includes(field.value);
      } else if (field.matches("input:not([type=hidden]), textarea, select") && said.has(field.name)) {
        field.value = said.get(field.name);
      }
    }
  };

  // In the inbox: before a form that allows something critical is sent, the passkey is shown for this call as it stands there.
  document.addEventListener("submit", async (e) => {
    const form = e.target;
    const card = form.closest(".card");
    const answer = e.submitter && e.submitter.value;
    if (e.defaultPrevented || !card || !card.querySelector(".risk-critical") || form.dataset.proved || answer === "deny" || answer === "never") {
      return;
    }
    e.preventDefault();
    e.stopImmediatePropagation(); // nobody else sends the form meanwhile
    const digest = form.elements.digest.value;
    const said = new FormData(form);
    try {
      if (await demanded()) {
        const [, , project, id] = new URL(form.action).pathname.split("/").map(decodeURIComponent);
        await prove({ act: "answer", project: project, id: id, digest: digest });
      }
      const now = present(form, digest);
      if (!now) {
        throw new Error("The call has changed, or is answered.");
      }
      if (now !== form) {
        repeat(said, now);
      }
      now.dataset.proved = "yes";
      now.requestSubmit(now.querySelector('button[name="answer"][value="' + CSS.escape(answer) + '"]'));
      delete now.dataset.proved;
    } catch (err) {
      problem(present(form, digest) || document.getElementById("view"), "Your answer was not sent. " + err.message);
    }
  }, true);

  const none = document.getElementById("no-push");
  if (none) {
    none.hidden = "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
  }
}
