// Starts the page: a session from the link in the address, or the one of this tab, or a word on how to get one.
import { App } from "/assets/app.js";
import { html, render } from "/assets/core/html.js";
import { forgetSession, openSession, storedSession, takeLink } from "/assets/core/session.js";
import { Workbench } from "/assets/core/workbench.js";

const FRAME_MS = 16; // many changes are drawn at once

const place = document.getElementById("page");

function alone(title, text) {
  render(
    html`<main class="alone"><h1>${title}</h1><p role="status">${text}</p>
      <p>In a terminal, in the project's folder:</p>
      <pre class="code" tabindex="0">interlock open             # to look and to drive${"\n"}interlock open --approve   # to answer approvals as well</pre></main>`,
    place,
  );
}

async function start() {
  place.replaceChildren();
  const link = takeLink();
  const refusal = link ? await openSession(link) : "";
  if (refusal) return alone("This link does not open the page", refusal);
  const session = storedSession();
  if (!session) return alone("Open the page by a link", "This tab has no session of the workbench.");
  const ended = (reason) => {
    workbench.events.stop();
    forgetSession();
    alone("The session has ended", reason);
  };
  let drawn = 0;
  const draw = () => {
    drawn = 0;
    if (!workbench.events.stopped) render(html`<${App} workbench=${workbench} />`, place);
  };
  const workbench = new Workbench(session, () => (drawn ||= setTimeout(draw, FRAME_MS)), ended);
  draw();
  addEventListener("online", () => workbench.events.retryNow());
  addEventListener("visibilitychange", () => workbench.events.retryNow());
  await connect(workbench);
}

// The shell may come from the cache while the workbench does not answer: it says so, and tries again.
async function connect(workbench) {
  while (!workbench.events.stopped && !(await workbench.begin())) {
    await new Promise((resolve) => setTimeout(resolve, 2_000));
  }
}

function keepShell() {
  if (!("serviceWorker" in navigator)) return;
  let address = "/service-worker.js";
  if (window.trustedTypes) {
    const policy = trustedTypes.createPolicy("interlock-worker", { createScriptURL: () => "/service-worker.js" });
    address = policy.createScriptURL(address);
  }
  navigator.serviceWorker.register(address).catch(() => {}); // without it the page works, but not offline
}

addEventListener("hashchange", () => location.hash.startsWith("#link=") && location.reload());
keepShell();
start();
