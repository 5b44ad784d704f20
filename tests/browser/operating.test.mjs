// Whether everything is well: the smoke check on Status, and the page of alerts.
import assert from "node:assert/strict";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { DESKTOP, PHONE, World } from "./world.mjs";

const RULE = `
[[alerts]]
name = "asked"
signal = "oldest_decision_hours"
above = 0.0
clear = 0.0
severity = "critical"
about = "somebody waits for you"
next_step = "astra inbox"
`;

let world;
before(async () => {
  world = await World.make();
});
afterEach((story) => world.closePages(story));
after(() => world.end());

test("the smoke check is run from the page, and its parts are shown", async () => {
  const page = await world.page();
  await world.go(page, "/status");
  await page.getByText("Nobody has run").waitFor();
  await page.getByRole("button", { name: "Check now" }).click();
  await page.getByText("all ok").waitFor();
  await page.getByText("records verified").waitFor();
  assert.equal((await world.astra("smoke", "--last")).ok, true);
});

test("an alert appears by itself, says what helps, and is silenced in a terminal", async () => {
  await appendFile(join(world.environment.AGENT_DATA_ROOT, "astra.toml"), RULE);
  await world.astra("config", "sign");
  const page = await world.page();
  await world.go(page, "/alerts");
  await page.getByText("No alert is raised").waitFor();
  await world.attempt("tools", "call", "fetch_url", '{"url": "https://example.com"}');
  await world.astra("alerts", "check");
  await page.getByText("somebody waits for you (oldest_decision_hours").first().waitFor();
  await page.getByText("astra alerts silence asked --reason TEXT").waitFor();
  await world.astra("alerts", "silence", "asked", "--reason", "known");
  await page.getByText("silenced until").first().waitFor();
  await picture(page, "alerts-desk");
});

test("both fit on a phone", async () => {
  for (const [size, viewport] of Object.entries({ desk: DESKTOP, phone: PHONE })) {
    const page = await world.page({ viewport });
    for (const place of ["alerts", "status"]) {
      await world.go(page, `/${place}`);
      const wide = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      assert.equal(wide, 0, `${place} on a ${size}`);
      await picture(page, `${place}-${size}`);
    }
  }
});

/** A picture for whoever asks for one; tests take none. */
async function picture(page, name) {
  const folder = process.env.ASTRA_PICTURES;
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
}
