// A person comes in, sees what waits, decides, and everybody who looks sees it.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { eventually, pressPair, tooSmall, violations, World } from "./world.mjs";

let world;
before(async () => {
  world = await World.make();
});
afterEach((story) => world.closePages(story));
after(() => world.end());

/** Have a decision wait longer before it is sent: a busy machine may take all of the five seconds. */
function lengthenGrace(page) {
  return page.evaluate(() => {
    const start = globalThis.setTimeout;
    globalThis.setTimeout = (run, milliseconds, ...rest) => start(run, milliseconds === 5_000 ? 600_000 : milliseconds, ...rest);
  });
}

async function asked(url) {
  const { said } = await world.attempt("tools", "call", "fetch_url", JSON.stringify({ url }));
  return said.approval_id;
}

test("a login link works once, and its code stays in no address", async () => {
  const { url } = await world.astra("login");
  const page = await (await world.profile()).newPage();
  await page.goto(url);
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  assert.equal(page.url(), `${world.url}/`);
  const other = await (await world.profile()).newPage();
  await other.goto(url);
  await other.getByText("login link already used or expired").waitFor();
  await other.getByText("astra login", { exact: true }).waitFor();
});

test("a request appears by itself, and is rejected with a reason that the record keeps", async () => {
  const page = await world.page();
  await page.getByText("Nothing waits for you").waitFor();
  const id = await asked("https://example.com/one");
  await page.getByRole("link", { name: /fetch_url http/ }).click();
  await page.getByText("can send anything it is given to anyone at example.com", { exact: true }).waitFor();
  await page.getByText(`astra approve ${id}`).waitFor();
  await page.getByLabel("Reject, and say why").fill("not needed today");
  await page.getByRole("button", { name: "Reject" }).click();
  await page.getByRole("heading", { name: "Decided" }).waitFor();
  await page.getByText("not needed today").waitFor();
  const { items } = await world.astra("ledger", "story", id);
  assert.equal(items.find((record) => record.type === "approval_rejected").data.reason, "not needed today");
  assert.deepEqual(page.complaints, []);
});

test("a request says what would pass without asking, ready to be suggested with a no", async () => {
  const id = await asked("https://example.com/tides");
  const { id: permission } = await world.astra("permissions", "add", "--host", "docs.example.net", "--until", "3d");
  const page = await world.page();
  await world.go(page, `/approvals/${id}`);
  await page.getByText("Without asking, the agent may call:").waitFor();
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(await tooSmall(page), []);
  await page.getByRole("button", { name: "suggest it" }).click();
  const reason = await page.getByLabel("Reject, and say why").inputValue();
  assert.match(reason, /^Call this instead, it needs no approval: fetch_url GET docs\.example\.net, /);
  await page.getByRole("button", { name: "Reject" }).click();
  await page.getByRole("heading", { name: "Decided" }).waitFor();
  const { items } = await world.astra("ledger", "story", id);
  assert.equal(items.find((record) => record.type === "approval_rejected").data.reason, reason);
  await world.astra("permissions", "remove", permission);
});

test("what is approved in a terminal is seen on the page at once", async () => {
  const id = await asked("https://example.com/two");
  const page = await world.page();
  await world.go(page, `/approvals/${id}`);
  await page.getByRole("heading", { name: "Your decision" }).waitFor();
  await world.astra("approve", id);
  await page.getByRole("heading", { name: "Decided" }).waitFor();
  await page.getByText("approved").first().waitFor();
});

test("who decides second is told that it was decided", async () => {
  const id = await asked("https://example.com/three");
  const page = await world.page();
  await page.route("**/api/events", (route) => route.abort());
  await world.go(page, `/approvals/${id}`);
  await page.getByLabel("Reject, and say why").fill("mine");
  await world.astra("reject", id, "--reason", "theirs");
  await page.getByRole("button", { name: "Reject" }).click();
  await page.getByText("theirs").waitFor();
  const { items } = await world.astra("ledger", "story", id);
  const decided = items.filter((record) => record.type === "approval_rejected");
  assert.deepEqual(decided.map((record) => record.data.reason), ["theirs"]);
});

test("everything of it goes by keyboard", async () => {
  const id = await asked("https://example.com/four");
  await asked("https://example.com/five");
  const page = await world.page();
  const requests = page.getByRole("link", { name: /fetch_url http/ });
  const inFocus = async (which) =>
    assert.ok(await requests.nth(which).evaluate((link) => link === document.activeElement));
  await requests.nth(1).waitFor();
  await page.keyboard.press("?");
  const keys = page.getByRole("dialog", { name: "Keys" });
  await keys.getByText("next", { exact: true }).waitFor();
  await page.keyboard.press("Escape");
  await keys.waitFor({ state: "hidden" });
  await eventually(async () => {
    await page.keyboard.press("k"); // as often as it takes: the first is the first
    await inFocus(0);
    await page.keyboard.press("j");
    await inFocus(1);
    await page.keyboard.press("k");
    await inFocus(0);
  });
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/approvals/${id}`);
  await page.getByRole("heading", { name: "Your decision" }).waitFor();
  await page.keyboard.press("r");
  await page.keyboard.type("by keyboard");
  await page.keyboard.press("Control+Enter");
  await page.getByRole("heading", { name: "Decided" }).waitFor();
  await pressPair(page, "g", "l");
  await page.getByRole("heading", { name: "Ledger" }).waitFor();
  await page.getByText("rejected: by keyboard").waitFor();
});

test("the tab counts what waits, the palette leads to it, and a no can be taken back", async () => {
  const id = await asked("https://example.com/six");
  const page = await world.page();
  await page.waitForFunction(() => /^\(\d+\) Inbox/.test(document.title));
  await page.keyboard.press("Control+k");
  const palette = page.getByRole("dialog", { name: "Go to, or do" });
  await palette.getByRole("combobox").fill("every well");
  await palette.getByRole("option", { name: /^Status/ }).waitFor();
  assert.deepEqual(await violations(page), []);
  await palette.getByRole("combobox").fill(id);
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/approvals/${id}`);
  await lengthenGrace(page);
  await page.getByLabel("Reject, and say why").fill("too soon");
  await page.getByRole("button", { name: "Reject" }).click();
  await page.getByRole("button", { name: "Take it back" }).click();
  await page.getByRole("region", { name: "Decisions on their way" }).waitFor({ state: "detached" });
  assert.equal((await world.astra("approvals", "show", id)).state, "pending");
  assert.deepEqual(page.complaints, []);
});

test("several are rejected with one reason, and each can be taken back before it is sent", async () => {
  const ids = [];
  for (const name of ["a", "b", "c"]) ids.push(await asked(`https://example.com/bulk-${name}`));
  const page = await world.page();
  await lengthenGrace(page);
  for (const name of ["a", "b", "c"]) await page.getByRole("checkbox", { name: new RegExp(`bulk-${name}`) }).check();
  assert.deepEqual(await violations(page), []);
  await page.getByLabel("Reject 3, and say why:").fill("all of them are too much");
  await page.getByRole("button", { name: "Reject 3" }).click();
  const held = page.getByRole("region", { name: "Decisions on their way" });
  await held.getByRole("listitem").filter({ hasText: "bulk-b" }).getByRole("button", { name: "Take it back" }).click();
  await held.getByRole("listitem").filter({ hasText: "bulk-b" }).waitFor({ state: "detached" });
  await page.reload(); // they are kept, and sent after the usual time
  await eventually(async () => {
    const { items } = await world.astra("approvals", "--all");
    const states = ids.map((id) => items.find((item) => item.id === id).state);
    assert.deepEqual(states, ["rejected", "pending", "rejected"]);
  });
  await world.astra("reject", ids[1], "--reason", "the test is over");
  assert.deepEqual(page.complaints, []);
});

test("the page, its badge, the tab, the API and `astra inbox` count the same things", async () => {
  await asked("https://example.com/seven");
  await world.plan();
  const { items } = await world.astra("inbox");
  assert.ok(items.length >= 2);
  const page = await world.page();
  const rows = page.getByRole("main").getByRole("listitem");
  await eventually(async () => assert.equal(await rows.count(), items.length));
  const badge = page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: /Inbox/ });
  await eventually(async () => assert.match(await badge.first().innerText(), new RegExp(`\\b${items.length}\\b`)));
  await page.waitForFunction((count) => document.title.startsWith(`(${count}) `), items.length);
  const call = items.find((item) => item.kind === "tool_call");
  await world.astra("reject", call.id, "--reason", "enough");
  const left = (await world.astra("inbox")).items;
  assert.equal(left.length, items.length - 1);
  await eventually(async () => assert.equal(await rows.count(), left.length));
});

test("a schedule is edited: what changes is shown first, and nobody is overwritten", async () => {
  const words = ["--cron", "0 7 * * 1-5", "--timezone", "UTC", "--tool", "astra.desires.list", "--payload", "{}"];
  const { id } = await world.astra("schedules", "create", "--name", "Survey", ...words);
  const page = await world.page();
  await world.go(page, `/schedules/${id}`);
  await page.keyboard.press("e");
  await page.getByRole("heading", { name: "Edit Survey" }).waitFor();
  const save = page.getByRole("button", { name: "Save the changes" });
  await page.getByText("Nothing yet.").waitFor();
  assert.ok(await save.isDisabled());
  await page.getByLabel("Cron expression").fill("61 8 * * *");
  await page.locator("input[aria-invalid=true]").waitFor();
  await page.getByLabel("Cron expression").fill("0 8 * * *");
  await page.getByText(/at 08:00/i).waitFor();
  await page.locator("del", { hasText: "0 7 * * 1-5" }).waitFor();
  await world.astra("schedules", "modify", id, "--budget", "9");
  await page.getByText("It was changed since you began").waitFor();
  assert.ok(await save.isDisabled());
  assert.deepEqual(await violations(page), []);
  await page.getByRole("button", { name: "Put my edits on top of it" }).click();
  await save.click();
  await page.getByRole("heading", { name: "Survey", exact: true }).waitFor();
  const both = await world.astra("schedules", "show", id);
  assert.deepEqual([both.cron_expression, both.per_day_budget], ["0 8 * * *", 9]);

  await page.route("**/api/events", (route) => route.abort());
  await world.go(page, `/schedules/${id}/edit`);
  await page.getByLabel("Name").fill("Evening survey");
  await world.astra("schedules", "modify", id, "--name", "Their survey");
  await save.click();
  await page.getByText(/It was changed since you began, by/).waitFor();
  await page.locator("ins", { hasText: "Their survey" }).waitFor();
  assert.equal((await world.astra("schedules", "show", id)).name, "Their survey");
  await page.getByRole("button", { name: "Start over from how it is now" }).click();
  await page.getByText("Nothing yet.").waitFor();
  await page.getByLabel("Name").fill("Evening survey");
  await world.astra("stop", "--now");
  await save.click();
  await page.getByText("It was refused: everything is stopped.").waitFor();
  await world.astra("start");
  await save.click();
  await page.getByRole("heading", { name: "Evening survey", exact: true }).waitFor();
  assert.deepEqual(page.complaints, []);
});

test("stop is on every page, and starting again is not", async () => {
  const page = await world.page();
  await world.go(page, "/desires");
  await page.keyboard.press("!");
  await page.getByRole("button", { name: "Stop now" }).click();
  await page.getByText("Stopped. Nothing of the agent runs").waitFor();
  assert.equal((await world.astra("status")).stopped, true);
  await world.astra("start");
  await page.getByRole("button", { name: "Stop" }).waitFor();
});

test("a second tab is let in by the first, and logging out ends both", async () => {
  const first = await world.page();
  const second = await first.context().newPage();
  await second.goto(`${world.url}/status`);
  await second.getByRole("heading", { name: "Status" }).waitFor();
  await first.getByRole("button", { name: "Log out" }).click();
  await first.getByText("You are logged out").waitFor();
  await second.getByText("You are logged out").waitFor();
});

test("a session that is over leads to the door, not to an error", async () => {
  const page = await world.page();
  const asked = page.waitForRequest(/api\/goals|api\/desires/);
  // What the page asks for is answered first, so that the door is found by the next step alone.
  const parts = ["desires?", "desires/suggestions", "goals", "type=desire_recorded", "type=desire_reinforced", "type=desire_half_life_set"];
  const answered = parts.map((part) => page.waitForResponse((answer) => answer.url().includes(part)));
  await page.getByRole("link", { name: "Desires" }).first().click();
  await Promise.all(answered);
  const { authorization } = await (await asked).allHeaders();
  await page.route("**/api/events", (route) => route.abort());
  const over = await fetch(`${world.url}/api/session`, { method: "DELETE", headers: { authorization } });
  assert.equal(over.ok, true);
  await page.getByRole("link", { name: "Schedules" }).first().click();
  await page.getByText("You are logged out").waitFor();
});
