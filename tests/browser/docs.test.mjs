// The documentation, served beside the dashboard: found by a search, readable at every size.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { DESKTOP, PHONE, tooSmall, violations, World } from "./world.mjs";

const PAGES = [
  "/docs/",
  "/docs/tutorial/first-steps.html",
  "/docs/howto/dashboard.html",
  "/docs/reference/capabilities.html",
  "/docs/reference/settings.html",
  "/docs/adr/",
  "/docs/project/ARCHITECTURE.html",
];
/** The rules of axe that look at colours: all that another scheme of colours can break. */
const COLOURS = ["color-contrast", "link-in-text-block"];

let world;
before(async () => {
  world = await World.make();
});
afterEach((story) => world.closePages(story));
after(() => world.end());

test("a person gets there from the dashboard, searches, and reads", async () => {
  const page = await world.page();
  await page.getByRole("link", { name: "Documentation" }).click();
  await page.waitForURL("**/docs/");
  await page.keyboard.press("/");
  await page.keyboard.type("standing permission");
  const results = page.getByRole("region", { name: "Search results" });
  await results.getByRole("status").filter({ hasText: /section/ }).waitFor();
  assert.deepEqual(await violations(page), []);
  await page.keyboard.press("Enter");
  await page.waitForURL(/docs\/.+\.html/);
  await page.getByText("standing permission", { exact: false }).first().waitFor();
  await page.getByRole("searchbox").fill("<img src=x onerror=alert(1)>");
  await page.getByText("Nothing was found").waitFor();
  await page.getByRole("link", { name: "Dashboard", exact: true }).click();
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  assert.deepEqual(page.complaints, []);
});

test("the shell that is kept for a lost connection stays the dashboard's", async () => {
  const page = await world.page();
  await page.evaluate(() => navigator.serviceWorker.ready);
  await page.goto(`${world.url}/docs/`);
  const kept = await page.evaluate(async () => (await caches.match("/")).text());
  assert.match(kept, /<title>Astra<\/title>/);
});

test("it is read without a login, at both sizes, in light and in dark", async () => {
  const context = await world.profile({ viewport: DESKTOP, reducedMotion: "reduce" });
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  for (const path of PAGES) {
    await page.goto(world.url + path);
    for (const viewport of [DESKTOP, PHONE]) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme: "light" });
      assert.deepEqual(await violations(page), [], `${path}, light, ${viewport.width}`);
      await page.emulateMedia({ colorScheme: "dark" });
      assert.deepEqual(await violations(page, COLOURS), [], `${path}, dark, ${viewport.width}`);
      const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wider <= 0, `${path} is ${wider} px too wide`);
      assert.deepEqual(await tooSmall(page), [], `${path}, ${viewport.width} px`);
    }
  }
  assert.deepEqual(complaints, []);
});
