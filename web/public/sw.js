// The shell for when Astra cannot be reached, and a nudge when something waits. It never keeps an
// answer of the API: those are for whoever is logged in.
const SHELL = "shell";
const APPROVAL = /^apr_[0-9a-f]{8,64}$/;

self.addEventListener("install", (event) => event.waitUntil(install()));
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  const { pathname, origin } = new URL(event.request.url);
  const ours = origin === location.origin && event.request.method === "GET";
  if (ours && !/^\/(api|v1|mcp|metrics|healthz|openapi|docs)/.test(pathname)) {
    event.respondWith(serve(event.request, pathname));
  }
});
self.addEventListener("push", (event) => event.waitUntil(nudge(read(event.data))));
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(show(event.notification.data));
});

async function install() {
  await (await caches.open(SHELL)).add("/");
  await self.skipWaiting();
}

/** Files with a digest in their name never change; everything else is fetched when it can be. */
async function serve(request, pathname) {
  if (request.mode === "navigate") void self.navigator.clearAppBadge?.().catch(() => undefined);
  const key = request.mode === "navigate" ? "/" : request;
  const kept = await caches.match(key);
  if (kept && pathname.startsWith("/assets/")) return kept;
  try {
    const fresh = await fetch(request);
    if (fresh.ok) await (await caches.open(SHELL)).put(key, fresh.clone());
    return fresh;
  } catch {
    return kept ?? Response.error();
  }
}

/** Take from a message what may be in one: a request to open, a number, and words if opted in. */
function read(data) {
  let said = null;
  try {
    said = data?.json();
  } catch {
    // Not ours; the words below do for anything.
  }
  const { opens, waiting, text } = said ?? {};
  return {
    path: APPROVAL.test(opens) ? `/approvals/${opens}` : "/",
    decision: said === null || APPROVAL.test(opens),
    waiting: Number.isSafeInteger(waiting) && waiting > 0 ? waiting : undefined,
    text: typeof text === "string" ? text.slice(0, 300) : "",
  };
}

/** Unless the operator opted in, a notification says that something waits, not what. */
async function nudge({ path, decision, waiting, text }) {
  const plain = decision ? "A request waits for your decision" : "Something happened";
  const shown = self.registration.showNotification(text || plain, {
    body: text ? plain : "",
    tag: "waiting",
    renotify: true,
    icon: "/icon-192.png",
    data: path,
  });
  await Promise.all([shown, self.navigator.setAppBadge?.(waiting).catch(() => undefined)]);
}

/** Go where the notification leads, in a window that is open already if there is one. */
async function show(path) {
  const [open] = await self.clients.matchAll({ type: "window" });
  if (!open) return self.clients.openWindow(path);
  await open.focus().catch(() => undefined);
  return new URL(open.url).pathname === path ? open : open.navigate(path);
}
