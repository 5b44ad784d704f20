// Whatever an agent writes is shown as text: nothing runs, nothing turns around, nothing hides.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { HOSTILE, PHONE, propose, World } from "./world.mjs";

let world;
before(async () => {
  world = await World.make();
  await world.astra("flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on");
});
afterEach((story) => world.closePages(story));
after(() => world.end());

async function untouched(page) {
  assert.equal(await page.locator("main img, main script, main iframe").count(), 0);
  assert.match(await page.title(), /Astra$/);
  assert.deepEqual(page.complaints, []);
}

test("markup, terminal escapes and turned text are spelled out", async () => {
  const { id } = await world.astra("desires", "record", Object.values(HOSTILE).join(" "), "--tag", HOSTILE.bidi);
  const page = await world.page();
  for (const path of ["/desires", `/desires/${id}`, "/ledger", `/ledger/story/${id}`]) {
    await world.go(page, path);
    const shown = await page.locator("main").innerText();
    assert.ok(shown.includes(HOSTILE.html), path);
    assert.ok(shown.includes("\\u202e"), path);
    assert.ok(shown.includes("\\x1b[2J"), path);
    assert.doesNotMatch(shown, /[\u202a-\u202e\u2066-\u2069\u001b]/, path);
    await untouched(page);
  }
});

test("names of ten thousand characters stay in their place", async () => {
  const { said } = await world.attempt("tools", "call", "fetch_url", '{"url": "https://example.com/"}');
  const page = await world.page({ viewport: PHONE });
  await page.route(/[/]api[/](approvals|inbox)/, async (route) => {
    const answer = await route.fetch();
    const text = (await answer.text()).replaceAll("fetch_url", "n".repeat(10_000));
    await route.fulfill({ response: answer, body: text });
  });
  for (const path of ["/", "/approvals", `/approvals/${said.approval_id}`]) {
    await world.go(page, path);
    await page.getByText("nnnnnnnnnn").first().waitFor();
    const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wider <= 0, `${path} is ${wider} px too wide`);
    assert.ok((await page.locator("main").innerText()).length < 5_000, path);
  }
  await untouched(page);
});

test("a diff of six thousand lines opens, whole, while the page goes on answering", async () => {
  const lines = Array.from({ length: 6_000 }, (_, i) => `V${i} = ${i}`);
  const trick = `NAME = "${HOSTILE.html.replaceAll('"', "'")}"  # ${HOSTILE.bidi}`;
  const made = await propose(world, HOSTILE.html, { "values.py": `${[trick, ...lines].join("\n")}\n` });
  const page = await world.page();
  await world.go(page, `/changes/${made.id}`);
  await page.evaluate(() => {
    window.frames_seen = 0;
    const count = () => {
      window.frames_seen += 1;
      requestAnimationFrame(count);
    };
    count();
  });
  await page.getByRole("button", { name: "Comment on line 6001 after" }).waitFor({ state: "attached" });
  assert.equal(await page.locator(".diff .code[data-kind='+']").count(), 6_001);
  assert.ok((await page.evaluate(() => window.frames_seen)) > 1);
  const first = await page.locator(".diff .code").first().innerText();
  assert.ok(first.includes("onerror"));
  assert.ok(first.includes("\\u202e"));
  await untouched(page);
});
