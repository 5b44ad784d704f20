// Told by push: a switch with clear states, and a message that opens what waits.
import assert from "node:assert/strict";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { eventually, pushed, violations, World } from "./world.mjs";

let world;
before(async () => {
  world = await World.make();
  const configuration = join(world.environment.AGENT_DATA_ROOT, "astra.toml");
  await appendFile(configuration, '\n[notify]\npush_services = ["push.invalid"]\n');
  await world.astra("config", "sign");
});
after(() => world.end());

async function asked(url) {
  const { said } = await world.attempt("tools", "call", "fetch_url", JSON.stringify({ url }));
  return said.approval_id;
}

/** Give what the page itself would be given by Astra. */
function devices(page) {
  return page.evaluate(async () => {
    const { secret } = JSON.parse(sessionStorage.getItem("astra.session"));
    const said = await fetch("/api/devices", { headers: { Authorization: `Bearer ${secret}` } });
    return said.json();
  });
}

/** A browser whose maker's service is nowhere: it subscribes as every other one. */
function subscribes() {
  let current = null;
  const text = (bytes) =>
    btoa(String.fromCharCode(...new Uint8Array(bytes)))
      .replaceAll("+", "-")
      .replaceAll("/", "_")
      .replaceAll("=", "");
  PushManager.prototype.getSubscription = async () => current;
  PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey }) => {
    if (!userVisibleOnly || applicationServerKey.length !== 65) throw new Error("not as it should");
    const curve = { name: "ECDH", namedCurve: "P-256" };
    const { publicKey } = await crypto.subtle.generateKey(curve, true, ["deriveBits"]);
    const p256dh = text(await crypto.subtle.exportKey("raw", publicKey));
    const auth = text(crypto.getRandomValues(new Uint8Array(16)));
    const endpoint = "https://push.invalid/send/browser";
    current = {
      endpoint,
      toJSON: () => ({ endpoint, expirationTime: null, keys: { p256dh, auth } }),
      unsubscribe: async () => {
        current = null;
        return true;
      },
    };
    return current;
  };
}

async function statusPage(script, permissions = ["notifications"]) {
  const page = await world.page({ permissions });
  await page.addInitScript(script);
  await world.go(page, "/status");
  return { page, card: page.locator("section", { hasText: "Notifications on this device" }) };
}

test("the switch has this device told, and not told any more", async () => {
  const { page, card } = await statusPage(subscribes);
  await card.getByText("off", { exact: true }).waitFor();
  await card.getByRole("button", { name: "Turn on" }).click();
  await card.getByText("on", { exact: true }).waitFor();
  const { items } = await devices(page);
  assert.deepEqual(items.map((each) => each.service), ["push.invalid"]);
  assert.deepEqual(await violations(page), []);

  await card.getByRole("button", { name: "Turn off" }).click();
  await card.getByText("off", { exact: true }).waitFor();
  assert.deepEqual((await devices(page)).items, []);
  assert.deepEqual(page.complaints, []);
});

test("where a person blocked notifications, the page says so and offers no switch", async () => {
  const { card } = await statusPage(() => {
    Object.defineProperty(Notification, "permission", { get: () => "denied" });
  });
  await card.getByText("blocked", { exact: true }).waitFor();
  assert.equal(await card.getByRole("button").count(), 0);
});

test("where a browser knows no push, the page says so and offers no switch", async () => {
  const { card } = await statusPage(() => {
    delete globalThis.PushManager;
  });
  await card.getByText("unsupported", { exact: true }).waitFor();
  assert.equal(await card.getByRole("button").count(), 0);
});

test("where nobody answers the browser, the page says what went wrong", async () => {
  const { card } = await statusPage(() => {
    PushManager.prototype.subscribe = () => Promise.reject(new Error("no push service here"));
  });
  await card.getByRole("button", { name: "Turn on" }).click();
  await card.getByRole("alert").waitFor();
  await card.getByText("off", { exact: true }).waitFor();
});

/** Deliver a push message as the browser would; give the worker and what it shows. */
async function delivered(page, data) {
  await page.evaluate(() => navigator.serviceWorker.ready);
  const worker = await eventually(() => page.context().serviceWorkers()[0] ?? Promise.reject(new Error("no worker")));
  await worker.evaluate(() => {
    self.navigator.setAppBadge = async (number) => {
      self.badge = number;
    };
  });
  const shown = await pushed(world, page, JSON.stringify(data));
  return { worker, shown };
}

test("a message says that something waits, counts it on the icon, and opens it", async () => {
  const id = await asked("https://example.com/open-me");
  const page = await world.page({ permissions: ["notifications"] });
  const { worker, shown } = await delivered(page, { opens: id, waiting: 2 });
  assert.deepEqual(shown, { title: "A request waits for your decision", body: "" });
  assert.equal(await worker.evaluate(() => self.badge), 2);
  await worker.evaluate(async () => {
    const [notification] = await self.registration.getNotifications();
    self.dispatchEvent(new NotificationEvent("notificationclick", { notification }));
  });
  await page.waitForURL(`**/approvals/${id}`);
  await page.getByText("https://example.com/open-me").first().waitFor();
});

test("a message that was opted in says what waits, as text", async () => {
  const page = await world.page({ permissions: ["notifications"] });
  const text = "run fetch_url once <b>";
  const { shown } = await delivered(page, { opens: "", waiting: 1, text });
  assert.equal(shown.title, text);
});

test("a message can open nothing but a page of ours", async () => {
  const page = await world.page({ permissions: ["notifications"] });
  const opens = "//evil.example/apr_00000001";
  const { worker } = await delivered(page, { opens, waiting: -1, text: 7 });
  const data = await worker.evaluate(async () => {
    const [notification] = await self.registration.getNotifications();
    return { path: notification.data, badge: self.badge };
  });
  assert.deepEqual(data, { path: "/", badge: undefined });
});
