// The whole review of a change: looked at, remarked on, sent back, revised, approved, merged.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { KINDER, WELL } from "./target.mjs";
import { PHONE, propose, violations, World } from "./world.mjs";

let world;
before(async () => {
  world = await World.make();
  await world.astra("flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on");
});
afterEach((story) => world.closePages(story));
after(() => world.end());

const greeting = (words) => `def greet(name: str) -> str:\n    return f"${words}, {name}"\n`;

test("by mouse: a remark on a line and a verdict go out together", async () => {
  const change = await propose(world, "Greet more warmly", { "agent.py": greeting("Hi there") });
  const page = await world.page();
  await page.getByRole("link", { name: /merge “Greet more warmly”/ }).waitFor();
  await world.go(page, `/changes/${change.id}`);
  await page.getByText("Greet more warmly", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Comment on line 2 after" }).click();
  await page.getByLabel("Comment on line 2", { exact: true }).fill("too casual");
  await page.getByRole("button", { name: "Add to the review" }).click();
  await page.getByText("1 remark to send").waitFor();
  await page.getByRole("button", { name: "Request changes" }).click();
  await page.getByLabel("The agent reads this").fill("Nearly.");
  await page.getByRole("button", { name: "Send back" }).click();
  await page.getByText("This change is changes requested").waitFor();
  const shown = await world.astra("changes", "show", change.id);
  assert.equal(shown.state, "changes_requested");
  const { text, remarks } = shown.comments.at(-1);
  assert.equal(text, "Nearly.");
  assert.deepEqual(remarks, [{ path: "agent.py", side: "new", line: 2, text: "too casual" }]);
  await page.getByRole("row").filter({ hasText: "too casual" }).waitFor();
  assert.deepEqual(page.complaints, []);
});

test("what the diff leaves out is shown on demand, with its numbers on both sides", async () => {
  const change = await propose(world, "Greet kindly", KINDER);
  const page = await world.page();
  await world.go(page, `/changes/${change.id}`);
  const file = page.getByRole("region", { name: "File agent.py" });
  const hidden = file.getByText("def sorted_by_need");
  assert.equal(await hidden.count(), 0);
  await file.getByRole("button", { name: "Show 36 hidden lines" }).click();
  await hidden.first().waitFor();
  const row = file.getByRole("row").filter({ hasText: "def sorted_by_need" });
  assert.match(await row.innerText(), /26[^]*27/);
  assert.equal(await file.getByRole("button", { name: /^Show/ }).count(), 0);
  await row.getByRole("button", { name: "Comment on line 27 after" }).click();
  await page.getByLabel("Comment on line 27", { exact: true }).fill("and this?");
  await page.getByRole("button", { name: "Add to the review" }).click();
  await page.keyboard.press("c");
  await page.keyboard.press("Control+Enter");
  await page.getByText("1 remark beside lines").waitFor();
  await page.reload();
  await file.getByText("on line 27").waitFor();
  const tests = page.getByRole("region", { name: "File tests/test_agent.py" });
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("e");
  await tests.getByText("from agent import Question").first().waitFor();
  assert.deepEqual(page.complaints, []);
});

test("by keyboard: files, viewed marks, one column, reject", async () => {
  const change = await propose(world, "Two files", {
    "agent.py": greeting("Good day"),
    "settings.py": "SETTING_0 = 1\n",
  });
  const page = await world.page();
  await world.go(page, `/changes/${change.id}`);
  await page.getByText("0 of 2 files viewed").waitFor();
  await page.locator(".diff table.split").first().waitFor();
  await page.keyboard.press("s");
  await page.locator(".diff table.unified").first().waitFor();
  await page.keyboard.press("v");
  await page.getByText("1 of 2 files viewed").waitFor();
  await page.keyboard.press("v");
  await page.getByText("2 of 2 files viewed").waitFor();
  await page.reload();
  await page.getByText("2 of 2 files viewed").waitFor();
  await page.keyboard.press("r");
  await page.keyboard.type("not now");
  await page.keyboard.press("Control+Enter");
  await page.getByText("This change is rejected: not now").waitFor();
});

test("a base that moved is said before somebody signs, and after", async () => {
  const change = await propose(world, "Greet warmly, later", { "agent.py": greeting("Welcome") });
  const other = await propose(world, "Keep a note", { "notes.md": "Greet people.\n" });
  const page = await world.page();
  await world.go(page, `/changes/${change.id}`);
  const band = page.getByRole("status", { name: "The base of this change" });
  await page.getByRole("button", { name: "Approve" }).waitFor();
  assert.equal(await band.count(), 0);
  await world.astra("approve", other.id);
  await band.getByText("1 commit behind trunk.").waitFor();
  await band.getByRole("button", { name: "Carry it over and test it now" }).waitFor();
  assert.deepEqual(await violations(page), []);

  await world.attempt("approve", change.id);
  await band.getByText("trunk moved while you signed.").waitFor();
  await band.getByText("Sign this round to merge it.").waitFor();
  assert.deepEqual(await violations(page), []);
  await world.astra("approve", change.id);
  await page.getByText("It is part of trunk").waitFor();
  assert.equal(await band.count(), 0);
  assert.deepEqual(page.complaints, []);
});

test("the tests are run again from the page, which shows what they print and asks anew", async () => {
  await world.contract();
  const change = await propose(world, "Greet well", WELL);
  const page = await world.page();
  await world.go(page, `/changes/${change.id}`);
  await page.route("**/output?*", (route) => route.fulfill({ json: { text: "collected 3 items", position: 17 } }));
  await page.getByRole("button", { name: "Run the tests again" }).click();
  await page.getByText("collected 3 items").waitFor();
  await page.getByText("round 2").waitFor();
  await page.getByRole("button", { name: "Run the tests again" }).waitFor();
  const again = await world.astra("changes", "show", change.id);
  assert.equal(again.state, "awaiting_approval");
  assert.notEqual(again.approval_id, change.approval_id);
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText(`astra approve ${again.approval_id}`).waitFor();
});

test("on a phone: tests failed, taken all the same in the terminal, and part of the branch", async () => {
  const change = await propose(world, "Greet formally", { "agent.py": greeting("Good evening") });
  const page = await world.page({ viewport: PHONE });
  await world.go(page, `/changes/${change.id}`);
  await page.locator(".diff table.unified").first().waitFor();
  await page.getByText("went back to the agent by itself").waitFor();
  assert.equal(await page.getByRole("button", { name: "Approve" }).count(), 0);
  await page.getByRole("button", { name: "Decide on it despite its tests" }).click();
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByLabel(/I take it despite its tests/).check();
  const { approval_id: approval } = await world.astra("changes", "show", change.id);
  await page.getByText(`astra approve ${approval} --despite-tests`).waitFor();
  await page.getByRole("button", { name: "Close" }).click();
  await world.astra("approve", approval, "--despite-tests");
  await page.getByText("It is part of trunk").waitFor();
  await page.getByText("It was approved without the deploy").waitFor();
});
