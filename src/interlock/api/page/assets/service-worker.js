// Keeps the static shell for the time without a connection. It never sees an answer of the API: requests for other
// addresses than these are left to the browser.
const CACHE = "interlock-shell";
const SHELL = [
  "/",
  "/app.webmanifest",
  "/assets/app.js",
  "/assets/core/api.js",
  "/assets/core/events.js",
  "/assets/core/html.js",
  "/assets/core/keys.js",
  "/assets/core/markdown.js",
  "/assets/core/session.js",
  "/assets/core/text.js",
  "/assets/core/virtual.js",
  "/assets/core/workbench.js",
  "/assets/icons/icon-192.png",
  "/assets/icons/icon-512.png",
  "/assets/icons/icon-maskable-512.png",
  "/assets/inbox/answering.js",
  "/assets/inbox/detail.js",
  "/assets/inbox/diff.js",
  "/assets/inbox/drafts.js",
  "/assets/inbox/inbox.js",
  "/assets/inbox/payload.js",
  "/assets/main.js",
  "/assets/panels.css",
  "/assets/panels/board.js",
  "/assets/panels/discussion.js",
  "/assets/panels/graph.js",
  "/assets/panels/project.js",
  "/assets/panels/streams.js",
  "/assets/panels/usage.js",
  "/assets/styles.css",
  "/assets/vendor/htm.mjs",
  "/assets/vendor/preact.mjs",
];

self.addEventListener("install", (event) => {
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(SHELL)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(self.clients.claim());
});

self.addEventListener("fetch", (event) => {
  const address = new URL(event.request.url);
  const ours = address.origin === self.location.origin && SHELL.includes(address.pathname);
  if (event.request.method === "GET" && ours) event.respondWith(newestOrKept(event.request, address.pathname));
});

// The newest version while the workbench answers, else the kept one.
async function newestOrKept(request, path) {
  const cache = await caches.open(CACHE);
  try {
    const reply = await fetch(request);
    if (reply.ok) await cache.put(path, reply.clone());
    return reply;
  } catch (error) {
    const kept = await cache.match(path);
    if (kept) return kept;
    throw error;
  }
}
