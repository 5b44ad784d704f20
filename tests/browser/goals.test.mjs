// A goal is proposed on the page, read, signed, watched while it runs, mended, and seen to its end.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { TIRED } from "./target.mjs";
import { eventually, HOSTILE, PHONE, pressPair, propose, violations, World } from "./world.mjs";

const METHODS = `
[[methods]]
name = "inspect"
task = "inspect"
subtasks = [
  { id = "files", task = "RUN_TOOL", tool = "list_source_files" },
  { id = "notes", task = "RUN_TOOL", tool = "list_files", after = ["files"] },
  { id = "read", task = "RUN_TOOL", tool = "read_source_code", after = ["files"], arguments = { path = "\${text}" } },
  { id = "report", task = "ASK_OPERATOR", after = ["notes", "read"], arguments = { question = "Is it enough?" } },
]
`;

let world;
before(async () => {
  world = await World.make();
  await world.contract(METHODS);
});
afterEach((story) => world.closePages(story));
after(() => world.end());

const graph = (page) => page.getByRole("region", { name: "Graph of tasks" });
const box = (page, words) => graph(page).getByRole("link", { name: words });

async function create(text, ...words) {
  const { id } = await world.astra("goals", "create", text, "--task", "inspect", ...words);
  return id;
}

async function wider(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
}

test("a goal is proposed on the page by keyboard, and its graph is there at once", async () => {
  const page = await world.page();
  await pressPair(page, "g", "o");
  await page.getByRole("heading", { name: "Goals" }).waitFor();
  await page.keyboard.press("n");
  await page.getByLabel("What is to be achieved").fill("agent.py");
  await page.getByLabel("What is to be done").fill("inspect");
  await page.getByLabel("It is reached when this file is there").fill("agent.py");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/goals/goal_*");
  await box(page, /pending.*report/).waitFor();
  assert.equal(await graph(page).getByRole("link").count(), 4);
  await page.getByText("report: the question").waitFor();
  await page.getByText("not run", { exact: true }).waitFor();
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(page.complaints, []);
});

test("one signature adopts it, and the picture lives while its tasks run", async () => {
  const id = await create("agent.py", "--file", "agent.py");
  const page = await world.page();
  await world.go(page, `/goals/${id}`);
  await page.getByText(/astra approve apr_/).waitFor();
  await page.getByRole("link", { name: "Read all of it" }).waitFor();
  await box(page, /pending.*files/).waitFor();
  await world.astra("goals", "adopt", id);
  await box(page, /succeeded.*read/).waitFor();
  await box(page, /waiting.*report/).waitFor();
  await page.getByRole("main").getByText("blocked", { exact: true }).first().waitFor();
  const approval = (await world.astra("goals", "show", id)).tasks.at(-1).waits_on;
  await page.getByRole("link", { name: approval }).click();
  await page.getByText("Is it enough?").first().waitFor();
  await world.astra("approve", approval);
  await world.go(page, `/goals/${id}`);
  await page.getByText("holds", { exact: true }).waitFor();
  await page.getByRole("main").getByText("satisfied", { exact: true }).first().waitFor();
  assert.deepEqual(page.complaints, []);
});

test("a failure is shown with its path, and retried from a task before it", async () => {
  const id = await create("nowhere.py");
  await world.astra("goals", "adopt", id);
  const page = await world.page();
  await world.go(page, `/goals/${id}`);
  await box(page, /failed.*read/).waitFor();
  await page.getByText("A task failed for good.").waitFor();
  assert.ok((await graph(page).locator('path[stroke="var(--bad)"]').count()) >= 2);
  const files = (await world.astra("goals", "show", id)).tasks[0];
  await page.getByRole("button", { name: "Retry from here: files" }).click();
  await eventually(async () => {
    const { tasks } = await world.astra("goals", "show", id);
    assert.ok(tasks[0].attempt > files.attempt);
    assert.equal(tasks[2].state, "failed");
  });
  await box(page, /succeeded.*files.*begun 2 times/).waitFor();
  await page.getByRole("button", { name: "Retry from here: read" }).waitFor();
});

test("it is abandoned with a reason on a phone, in the dark", async () => {
  const id = await create(`nowhere.py ${HOSTILE.html}`);
  const page = await world.page({ viewport: PHONE, colorScheme: "dark" });
  await page.getByRole("link", { name: /adopt the goal/ }).first().click();
  await page.waitForURL("**/goals/goal_*");
  await world.go(page, `/goals/${id}`);
  assert.ok((await wider(page)) <= 0, "the page is wider than the phone");
  assert.deepEqual(await violations(page), []);
  await page.getByLabel("Abandon it, and say why").fill("not wanted");
  await page.getByRole("button", { name: "Abandon" }).click();
  await page.getByText("abandoned", { exact: true }).first().waitFor();
  assert.equal((await world.astra("goals", "show", id)).why, "not wanted");
  await page.getByRole("button", { name: "Reopen" }).waitFor();
});

test("a box leads to the records of its task, by keyboard", async () => {
  const id = await create("agent.py");
  await world.astra("goals", "adopt", id);
  const page = await world.page();
  await world.go(page, `/goals/${id}`);
  await box(page, /succeeded.*files/).focus();
  await page.keyboard.press("Enter");
  await page.waitForURL("**/ledger/story/node_*");
  await page.getByText(/^the task [a-z ]+ \(node_\S*\) succeeded/).first().waitFor();
});

test("it is paused and goes on", async () => {
  const id = await create("agent.py");
  await world.astra("goals", "adopt", id);
  const page = await world.page();
  await world.go(page, `/goals/${id}`);
  await box(page, /waiting.*report/).waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("It is paused: nothing of it begins.").waitFor();
  await page.getByRole("button", { name: "Go on" }).click();
  await page.getByText("A task of it waits for somebody.").waitFor();
});

test("a desire is made a goal on its page, and one signature adopts that with its plan", async () => {
  const desire = await world.astra("desires", "record", "Greet people by their name");
  const page = await world.page();
  await world.go(page, `/desires/${desire.id}`);
  await page.getByRole("button", { name: "Make it a goal" }).click();
  await page.waitForURL("**/approvals/apr_*");
  const title = /make a goal of the desire “Greet people by their name” and adopt it with its/;
  await page.getByRole("heading", { name: title }).waitFor();
  await world.astra("approve", page.url().split("/").at(-1));
  const goal = await eventually(async () => {
    const { goal_id } = await world.astra("desires", "show", desire.id);
    assert.ok(goal_id);
    return world.astra("goals", "show", goal_id);
  });
  assert.notEqual(goal.state, "proposed");
  assert.deepEqual(page.complaints, []);
});

test("the whole way from a desire to the rollback is one picture", async () => {
  await world.astra("flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on");
  await world.astra("deploy");
  const desire = await world.astra("desires", "record", "Answer the health question faster", "--strength", "0.9");
  const { said } = await world.attempt("desires", "promote", desire.id);
  await world.astra("approve", said.approval_id);
  const goal = await eventually(async () => {
    const { items } = await world.astra("goals", "list");
    const found = items.find((each) => each.desire_id === desire.id);
    assert.ok(found && (await world.astra("goals", "show", found.id)).tasks.length > 0);
    return found;
  });
  await world.astra("goals", "adopt", goal.id);
  const page = await world.page();
  await world.go(page, `/goals/${goal.id}`);
  await box(page, /waiting.*change/).waitFor();
  const change = await propose(world, "A faster health answer", TIRED, "--goal", goal.id);
  await world.attempt("changes", "approve", change.id, "--deploy");
  const way = page.getByRole("list", { name: `The whole way of ${change.id}` });
  await way.getByText("rollback", { exact: true }).waitFor();
  const kinds = await way.locator("li").evaluateAll((found) => found.map((each) => each.innerText.split("\n")[0].trim()));
  assert.deepEqual(kinds.slice(0, 2), ["desire", "goal"]);
  assert.ok(kinds.indexOf("task") < kinds.indexOf("change"), kinds.join(" "));
  assert.equal(kinds.at(-1), "rollback");
  assert.deepEqual(await violations(page), []);
  await world.go(page, `/changes/${change.id}`);
  const story = page.getByRole("list", { name: "The story of this change" });
  await story.getByText("change: succeeded").waitFor();
  await story.getByRole("link", { name: /^goal/ }).click();
  await page.waitForURL(`**/goals/${goal.id}`);
  assert.deepEqual(page.complaints, []);
});
