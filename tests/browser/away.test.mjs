// Astra goes away and comes back; the page says so, and nothing is missed.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { pushed, World } from "./world.mjs";

let world;
before(async () => {
  world = await World.make();
});
afterEach((story) => world.closePages(story));
after(() => world.end());

test("while Astra is away the page says so; what happened meanwhile comes when it is back", async () => {
  const page = await world.page();
  await world.go(page, "/desires");
  await world.astra("desires", "record", "before it went");
  await page.getByText("before it went").first().waitFor();
  await world.down();
  await page.getByText("Astra does not answer.").waitFor();
  await world.astra("desires", "record", "while the page could not see it");
  await world.astra("down");
  await world.up();
  await page.getByText("while the page could not see it").first().waitFor();
  await page.getByText("Live").waitFor();
});

test("without a network the page says that it is this device, and catches up afterwards", async () => {
  const page = await world.page();
  await world.go(page, "/desires");
  await page.getByText("Live").waitFor();
  await page.context().setOffline(true);
  await page.getByText("This device is offline.").waitFor();
  await world.astra("desires", "record", "while there was no network");
  await page.context().setOffline(false);
  await page.getByText("while there was no network").waitFor();
});

test("a rejection while Astra is away waits on the page, can be taken back, and is sent when it is back", async () => {
  const ask = async (url) => {
    const { said } = await world.attempt("tools", "call", "fetch_url", JSON.stringify({ url }));
    return said.approval_id;
  };
  const ids = [await ask("https://example.com/keep"), await ask("https://example.com/drop")];
  const page = await world.page();
  await page.getByRole("checkbox").nth(1).waitFor();
  await page.context().setOffline(true);
  await page.getByText("This device is offline.").waitFor();
  for (const which of [0, 1]) await page.getByRole("checkbox").nth(which).check();
  await page.getByLabel("Reject 2, and say why").fill("while away");
  await page.getByRole("button", { name: "Reject 2" }).click();
  const outgoing = page.getByRole("region", { name: "Decisions on their way" });
  await outgoing.getByText("once Astra answers").nth(1).waitFor();
  await outgoing.getByRole("button", { name: "Take it back" }).first().click();
  await outgoing.getByRole("button", { name: "Take it back" }).nth(1).waitFor({ state: "detached" });
  await page.context().setOffline(false);
  await outgoing.waitFor({ state: "detached" });
  const states = await Promise.all(
    ids.map(async (id) => (await world.astra("approvals", "show", id)).state),
  );
  assert.deepEqual(states.toSorted(), ["pending", "rejected"]);
});

test("the shell opens without Astra, once it has been there", async () => {
  const page = await world.page();
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.reload();
  await page.getByText("Live").waitFor();
  await world.down();
  await page.reload();
  await page.getByRole("navigation", { name: "Pages" }).first().waitFor();
  await page.getByText("Astra does not answer.").first().waitFor();
  const kept = await page.evaluate(async () => {
    const cache = await caches.open("shell");
    return (await cache.keys()).map((request) => new URL(request.url).pathname);
  });
  assert.ok(kept.includes("/"));
  assert.deepEqual(kept.filter((path) => path.startsWith("/api")), []);
  await world.up();
});

test("a push message says that something waits, and nothing else", async () => {
  const page = await world.page({ permissions: ["notifications"] });
  const shown = await pushed(world, page, "secret words");
  assert.deepEqual(shown, { title: "A request waits for your decision", body: "" });
});
