// Every page, on a phone and on a desk, in light and in dark: nothing hidden, nothing inaccessible.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { DESKTOP, furnish, PHONE, places, violations, World } from "./world.mjs";

let world;
let paths;
before(async () => {
  world = await World.make();
  paths = Object.values(places(await furnish(world)));
});
after(() => world.end());

for (const colorScheme of ["light", "dark"]) {
  for (const [name, viewport] of Object.entries({ phone: PHONE, desk: DESKTOP })) {
    test(`${name}, ${colorScheme}`, async () => {
      const page = await world.page({ viewport, colorScheme });
      for (const path of paths) {
        await world.go(page, path);
        const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wider <= 0, `${path} is ${wider} px too wide`);
        assert.deepEqual(await violations(page), [], path);
        assert.ok(await page.getByRole("button", { name: "Stop" }).isVisible(), path);
      }
      assert.deepEqual(page.complaints, []);
    });
  }
}

test("the door and the dialogs are accessible too", async () => {
  const stranger = await (await world.browser.newContext()).newPage();
  await stranger.goto(world.url);
  await stranger.getByText("Come in through your terminal").waitFor();
  assert.deepEqual(await violations(stranger), []);
  const page = await world.page();
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  assert.deepEqual(await violations(page), []);
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
