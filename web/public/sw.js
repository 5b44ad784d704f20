// The shell for when Astra cannot be reached, and a nudge when something waits. It never keeps an
// answer of the API: those are for whoever is logged in.
const SHELL = "shell";

self.addEventListener("install", (event) => event.waitUntil(install()));
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  const { pathname, origin } = new URL(event.request.url);
  const ours = origin === location.origin && event.request.method === "GET";
  if (ours && !/^\/(api|v1|mcp|metrics|healthz|openapi)/.test(pathname)) {
    event.respondWith(serve(event.request, pathname));
  }
});
self.addEventListener("push", (event) => event.waitUntil(nudge()));
self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(show());
});

async function install() {
  await (await caches.open(SHELL)).add("/");
  await self.skipWaiting();
}

/** Files with a digest in their name never change; everything else is fetched when it can be. */
async function serve(request, pathname) {
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

/** A notification says that something waits, and nothing about what. */
async function nudge() {
  await self.navigator.setAppBadge?.();
  await self.registration.showNotification("Astra", {
    body: "Something waits for your decision.",
    tag: "waiting",
    icon: "/icon-192.png",
  });
}

async function show() {
  const [open] = await self.clients.matchAll({ type: "window" });
  return open ? open.focus() : self.clients.openWindow("/");
}
