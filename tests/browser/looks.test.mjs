// Every page, on a phone and on a desk, in light and in dark: nothing hidden, nothing inaccessible.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { DESKTOP, eventually, furnish, grow, PHONE, places, pressPair, spilling, tooSmall, violations, WIDE, World } from "./world.mjs";

let world;
let paths;
before(async () => {
  world = await World.make();
  paths = [...Object.values(places(await furnish(world))), "/nowhere"];
});
afterEach((story) => world.closePages(story));
after(() => world.end());

test("every page on a desk, on a wide screen and on a phone, in light and in dark", async () => {
  const page = await world.page({ reducedMotion: "reduce" });
  for (const path of paths) await lookAt(page, path);
  assert.deepEqual(page.complaints, []);
});

/** Nothing too wide, too small, without contrast or out of reach, at any size. */
async function lookAt(page, path) {
  await page.emulateMedia({ colorScheme: "light" });
  await world.go(page, path);
  for (const viewport of [WIDE, DESKTOP, PHONE]) {
    await page.setViewportSize(viewport);
    await eventually(async () => {
      const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wider <= 0, `${path} is ${wider} px too wide`);
    }, 100);
    if (viewport !== DESKTOP) {
      assert.deepEqual(await violations(page), [], `${path}, light, ${viewport.width} px`);
    }
    assert.deepEqual(await tooSmall(page), [], `${path}, ${viewport.width} px: smaller than 24 px`);
    assert.deepEqual(await spilling(page), [], `${path}, ${viewport.width} px: text beside its button`);
    assert.ok(await page.getByRole("button", { name: "Stop" }).isVisible(), path);
  }
  await page.emulateMedia({ colorScheme: "dark" });
  assert.deepEqual(await violations(page, ["color-contrast"]), [], `${path}, dark`);
}

test("a story is titled by what it is about, and its id is small print", async () => {
  const page = await world.page();
  await world.go(page, paths.find((path) => path.startsWith("/ledger/story/apr_")));
  await page.getByRole("heading", { name: "The story of “fetch_url https://example.com/weather”" }).waitFor();
  await page.getByText(/^fetch_url waits for the operator: /).waitFor();
  await page.locator("code", { hasText: /^apr_/ }).first().waitFor();
});

test("new tests that fail on the old code are nothing that went wrong", async () => {
  const page = await world.page();
  await world.go(page, "/status");
  const runs = page.getByRole("listitem").filter({ hasText: "test runs did not pass" });
  assert.equal((await runs.getByRole("link").innerText()).trim(), "0");
  await world.go(page, "/ledger?type=tests_failed");
  await page.getByText(/^the new tests fail on the code before the change, as they should: 1 of 4/).waitFor();
});

test("every number of the status leads to the records that it counts", async () => {
  const page = await world.page();
  await world.go(page, "/status");
  await page.getByRole("listitem").filter({ hasText: /^\d+merged$/ }).getByRole("link").first().click();
  await page.waitForURL("**/ledger?type=code_modification_executed");
  await page.getByText(/^merged: trunk is at/).waitFor();
  await world.go(page, "/status");
  await page.getByText("requests that wait for you").waitFor();
  const waiting = page.getByRole("listitem").filter({ hasText: "requests that wait for you" });
  await waiting.getByRole("link", { name: "its records" }).click();
  await page.getByText(/WAITS for a signature/).first().waitFor();
  await world.go(page, "/changes?state=executed");
  await page.getByText("Say goodbye as well as hello.").waitFor();
  assert.equal(await page.getByText("Greet kindly, and say goodbye aloud").count(), 0);
  await page.getByLabel("Which").selectOption("rejected");
  await page.waitForURL("**/changes?state=rejected");
  await page.getByText("No change is rejected").waitFor();
  await world.go(page, "/tasks");
  await page.getByRole("link", { name: /^Change the code: “People said/ }).first().click();
  await page.getByRole("heading", { name: "Live, against proposed" }).waitFor();
});

test("every number of a day leads to the records it counts, and grows while somebody looks", async () => {
  const page = await world.page({ viewport: PHONE });
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("link", { name: /^Numbers/ }).click();
  const card = page.locator("section", { has: page.getByRole("heading", { name: "Tool calls" }) });
  const refused = async () => {
    const label = await card.getByRole("img", { name: /^refused/ }).getAttribute("aria-label");
    return Number(/refused: (\d+) in 14 days/.exec(label)?.[1] ?? 0);
  };
  await card.waitFor();
  const before = await refused();
  await world.attempt("tools", "call", "astra_flags_set", '{"name": "x", "on": false}');
  await eventually(async () => assert.equal(await refused(), before + 1));
  await card.getByText("As a table").click();
  const rows = card.getByRole("row");
  await rows.nth(14).waitFor();
  assert.equal(await rows.count(), 15);
  assert.deepEqual(await violations(page), []);
  await page.getByRole("slider", { name: "Day" }).press("Home");
  await card.getByText(/^0 on /).first().waitFor();
  await page.getByLabel("How many days").selectOption("7");
  await page.waitForURL("**/numbers?days=7");
  await card.getByRole("img", { name: /^refused: \d+ in 7 days/ }).waitFor();
  await card.getByRole("link").first().click();
  await page.waitForURL("**/ledger?measure=calls_ok&since=*&until=*");
  await page.getByText("Exactly the records that the number counts").waitFor();
  await world.go(page, `/ledger?measure=calls_refused`);
  await page.getByText(/^astra.flags.set was refused/).waitFor();
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(page.complaints, []);
});

test("a belief shows its band, and every record behind it leads to its story", async () => {
  const page = await world.page();
  await pressPair(page, "g", "b");
  await page.waitForURL("**/beliefs");
  await page.getByRole("link", { name: "changes to the files of the top folder are taken back in service" }).click();
  await page.getByRole("heading", { name: "Confidence over time" }).waitFor();
  await page.getByRole("img", { name: /^From .* now, between/ }).waitFor();
  const row = page.getByRole("row").filter({ hasText: "test pass" });
  await row.getByText("against 1.00").waitFor();
  await row.getByRole("link", { name: /^record \d+$/ }).click();
  await page.waitForURL("**/ledger/story/*");
  await page.getByText(/^merged: trunk is at/).waitFor();
  await world.astra("tools", "call", "propose_belief", JSON.stringify({ statement: "<b>all</b> is well" }));
  await world.go(page, "/beliefs");
  await page.getByRole("button", { name: "Show what was only said" }).click();
  await page.getByText("<b>all</b> is well").waitFor();
  assert.deepEqual(page.complaints, []);
});

test("the door and the dialogs are accessible too", async () => {
  const stranger = await (await world.profile()).newPage();
  await stranger.goto(world.url);
  await stranger.getByText("Come in through your terminal").waitFor();
  assert.deepEqual(await violations(stranger), []);
  const page = await world.page();
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  assert.deepEqual(await violations(page), []);
});

test("several operators and a fleet are shown, at every size", async () => {
  await grow(world);
  const page = await world.page({ reducedMotion: "reduce" });
  await world.go(page, "/safety");
  await page.getByText("protected: 2 operators sign").waitFor();
  await lookAt(page, "/safety");
  await world.go(page, "/releases");
  await page.getByRole("list", { name: "Instances" }).getByText("web-3").waitFor();
  await lookAt(page, "/releases");
  assert.deepEqual(page.complaints, []);
});

test("it can be installed", async () => {
  const page = await world.page();
  const session = await page.context().newCDPSession(page);
  const { errors } = await session.send("Page.getAppManifest");
  assert.deepEqual(errors, []);
  const { installabilityErrors } = await session.send("Page.getInstallabilityErrors");
  assert.deepEqual(
    installabilityErrors.map((each) => each.errorId).filter((id) => id !== "in-incognito"),
    [],
  );
});
