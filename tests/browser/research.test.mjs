// Research on pages: claim and quote side by side, in the session and in the review of a change.
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { HOSTILE, PHONE, propose, World } from "./world.mjs";

const REMARK = "A found quote proves existence, not support.";
let world;
before(async () => {
  world = await World.make();
  await world.astra("flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on");
});
afterEach((story) => world.closePages(story));
after(() => world.end());

async function look(page, name) {
  if (!process.env.PICTURES) return;
  await mkdir(process.env.PICTURES, { recursive: true });
  await page.screenshot({ path: join(process.env.PICTURES, `${name}.png`), fullPage: true });
}

test("a session shows each claim beside its quote, and says what that proves", async () => {
  const { id } = await world.astra("research", "ask", "How are questions sorted by need?");
  const page = await world.page();
  await world.go(page, "/research");
  await look(page, "list-desk");
  await page.getByRole("link", { name: "How are questions sorted by need?" }).click();
  await page.waitForURL(`**/research/${id}`);
  const first = page.getByRole("listitem").filter({ hasText: "defines sorted_by_need" });
  const claim = await first.getByText("defines sorted_by_need").boundingBox();
  const quote = await first.getByText("def sorted_by_need(questions").boundingBox();
  assert.ok(quote.x > claim.x + 100, "the quote stands beside the claim");
  await page.getByText(REMARK, { exact: false }).waitFor();
  await look(page, "session-desk");
  await page.setViewportSize(PHONE);
  const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wider <= 0, `${wider} px too wide`);
  await look(page, "session-phone");
  assert.deepEqual(page.complaints, []);
});

test("a citation whose object is gone is marked", async () => {
  const note = join(world.folder, "data", "persona_space", "idea.md");
  await writeFile(note, `Penguins are ${HOSTILE.html} sorted by need ${HOSTILE.bidi}\n`);
  const { id, findings } = await world.astra("research", "ask", "penguins need", "--source", "notes");
  const page = await world.page();
  await world.go(page, `/research/${id}`);
  const shown = await page.locator("main").innerText();
  assert.ok(shown.includes("\\u202e"));
  assert.equal(await page.locator("main img, main script").count(), 0);
  const kept = join(world.folder, "data", "var", "research", findings[0].citations[0].sha256);
  await writeFile(kept, "something else");
  await world.go(page, "/research");
  await page.reload();
  await world.go(page, `/research/${id}`);
  await page.getByText("not found now").waitFor();
  assert.deepEqual(page.complaints, []);
});

test("the review of a change shows the citations of the research that it names", async () => {
  const { id } = await world.astra("research", "ask", "What does shortened do with a long text?");
  const files = { "greeting.py": "GREETING = 'Good day'\n" };
  const change = await propose(world, "Greet kindly.", files, "--research", id);
  const page = await world.page();
  await world.go(page, `/changes/${change.id}`);
  await page.getByRole("heading", { name: /^Research: What does shortened/ }).waitFor();
  await page.getByText("def shortened(text: str").first().waitFor();
  await page.getByText(REMARK, { exact: false }).waitFor();
  await look(page, "review-desk");
  await page.getByRole("link", { name: /What does shortened/ }).click();
  await page.waitForURL(`**/research/${id}`);
  assert.deepEqual(page.complaints, []);
});
