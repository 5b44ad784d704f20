// A plan is read, narrowed, approved and held; what it may touch is said in words.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { done, Model, reaching } from "./model.mjs";
import { eventually, HOSTILE, PHONE, PLAN, pressPair, violations, World } from "./world.mjs";

let model;
let world;
let plan;
before(async () => {
  model = await Model.make(() => done);
  world = await World.make({ environment: model.environment });
  plan = await world.plan();
});
afterEach((story) => world.closePages(story));
after(async () => {
  await world.end();
  await model.end();
});

const isInFocus = (locator) => locator.evaluate((element) => element === document.activeElement);

test("the inbox leads to the plan, which says in words what it could do", async () => {
  const page = await world.page();
  await page.getByRole("main").getByRole("link", { name: /run the plan/ }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/plans/${plan.id}`);
  await page.getByText("can send anything it reads to anyone at example.com").first().waitFor();
  await page.getByText("now: does not exist").first().waitFor();
  await page.getByText("now: not looked up yet: whoever runs the domain would see that").waitFor();
  await page.getByRole("button", { name: "Look up which hosts exist" }).waitFor();
  await page.getByText("Its sandbox, in words").waitFor();
  assert.deepEqual(page.complaints, []);
});

test("what it may touch is narrowed on the page, and a step budget too", async () => {
  const page = await world.page();
  await world.go(page, `/plans/${plan.id}`);
  await page.getByRole("button", { name: /Take away: .*example.com/ }).click();
  await page.waitForFunction(
    () => !document.querySelector("main").innerText.includes("can send anything it reads"),
  );
  const steps = page.getByLabel("at most").first();
  await steps.fill("5");
  await steps.blur();
  await eventually(async () => {
    const shown = await world.astra("plans", "show", plan.id);
    assert.deepEqual(shown.plan.manifest.network_domains, []);
    assert.equal(shown.plan.checkpoints[0].step_budget, 5);
  });
});

test("who edits a plan as it was is told what is different, and sees it as it is", async () => {
  const page = await world.page();
  await page.route("**/api/events", (route) => route.abort());
  await world.go(page, `/plans/${plan.id}`);
  await world.astra("plans", "revise", plan.id, "--set", "checkpoints.1.step_budget=7");
  const steps = page.getByLabel("at most").first();
  await steps.fill("4");
  await steps.blur();
  await page.getByText("Your decision did not count.").waitFor();
  await page.getByText("checkpoints.1.step_budget is 7, was 20").waitFor();
  await page.getByText("0 of 7 steps").waitFor();
  const shown = await world.astra("plans", "show", plan.id);
  assert.equal(shown.plan.checkpoints[0].step_budget, 5);
});

test("it is approved in the terminal and can be ended on the page", async () => {
  const page = await world.page();
  await world.go(page, `/plans/${plan.id}`);
  await world.astra("flags", "set", "AGENT_RUNNER_ENABLED", "off"); // or it is done before it is ended
  await world.astra("plans", "approve", plan.id);
  await page.getByRole("button", { name: "Abort…" }).click();
  await page.getByRole("button", { name: "Yes, end it for good" }).click();
  await page.getByText("aborted").first().waitFor();
  assert.equal((await world.astra("plans", "show", plan.id)).state, "aborted");
  await world.astra("flags", "set", "AGENT_RUNNER_ENABLED", "on");
});

test("another one is read on a phone, and rejected with a reason", async () => {
  const other = await world.plan();
  const page = await world.page({ viewport: PHONE, colorScheme: "dark" });
  await page.getByRole("link", { name: /run the plan/ }).click();
  await page.getByText("Its sandbox, in words").waitFor();
  assert.deepEqual(await violations(page), []);
  await page.getByLabel("Reject, and say why").fill("not this week");
  await page.getByRole("button", { name: "Reject" }).click();
  await page.getByText("rejected").first().waitFor();
  assert.equal((await world.astra("plans", "show", other.id)).state, "rejected");
});

test("and a third one goes by keyboard alone", async () => {
  const third = await world.plan();
  const page = await world.page();
  const requests = page.getByRole("link", { name: /run the plan/ });
  await eventually(async () => assert.equal(await requests.count(), 1)); // the rejected one goes
  await eventually(async () => {
    await page.keyboard.press("j");
    assert.ok(await isInFocus(requests.first()));
  });
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/plans/${third.id}`);
  await page.getByRole("heading", { name: "Your decision" }).waitFor();
  await page.keyboard.press("r");
  await page.keyboard.type("by keyboard");
  await page.keyboard.press("Enter");
  await page.getByText("rejected").first().waitFor();
  assert.equal((await world.astra("plans", "show", third.id)).reason, "by keyboard");
});

test("one request waits for a plan, however often it is asked for", async () => {
  const fourth = await world.plan();
  const { items } = await world.astra("approvals");
  assert.equal(items.filter((each) => each.subject_id === fourth.id).length, 1);
});

test("a plan that was refused a host says what it wanted, why not, and what each answer means", async () => {
  const hosts = ["one.example.com", "two.example.com"];
  model.say = (told) => {
    const next = hosts.find((host) => !told.includes(`refused while it ran: ${host}`));
    return next ? reaching(next) : done;
  };
  const [checkpoint] = PLAN.checkpoints;
  const { id } = await world.plan({ manifest: { skills: ["sandbox"] }, checkpoints: [checkpoint] });
  await world.astra("plans", "approve", id);
  const page = await world.page({ viewport: PHONE });
  await world.go(page, `/plans/${id}`);
  await page.getByText("one.example.com:8080", { exact: true }).waitFor();
  const control = page.locator("section").filter({ has: page.getByRole("heading", { name: "Control" }) });
  for (const words of [
    "run a command in its sandbox:",
    "Neither what you approved for this plan names it",
    "It ran once without it and ended: ok.",
    "the step runs once more, with exactly this and nothing else",
    "every later step of this plan may do the same",
    "it stays refused",
  ]) {
    await control.getByText(words).waitFor();
  }
  await page.getByRole("list", { name: "Checkpoints and how they stand" }).getByText("blocked on permission").waitFor();
  assert.deepEqual(await violations(page), []);
  await page.route("**/api/events", (route) => route.abort());
  await world.go(page, `/plans/${id}`);
  const { step } = (await world.astra("plans", "show", id)).block;
  await world.astra("plans", "skip", id);
  await eventually(async () => assert.equal((await world.astra("plans", "show", id)).block.step, step + 1));
  await page.getByRole("button", { name: "Skip this action" }).click();
  await page.getByText(`you looked at step ${step}`).waitFor();
  await page.getByText("two.example.com:8080", { exact: true }).waitFor();
  assert.equal((await world.astra("plans", "show", id)).block.step, step + 1);
  await page.getByRole("button", { name: "Skip this action" }).click();
  await eventually(async () => assert.equal((await world.astra("plans", "show", id)).state, "completed"));
  await world.go(page, `/plans/${id}`);
  await page.getByText("1 · done").waitFor();
});

test("a step that went wrong is run once more, by signature, from the graph", async () => {
  model.say = () => ({ kind: "tool", tool: "no_such_tool", arguments: {} });
  const [checkpoint] = PLAN.checkpoints;
  const { id } = await world.plan({ checkpoints: [{ ...checkpoint, step_budget: 1 }] });
  await world.astra("plans", "approve", id);
  const page = await world.page();
  await world.go(page, `/plans/${id}`);
  await page.getByText("Step 1 went wrong, and nothing followed from it yet.").waitFor();
  await page.getByRole("link", { name: "Run it once more" }).click();
  await page.getByText("What it did before it ended may happen twice.").waitFor();
  await page.getByText(`astra plans retry ${id}`).waitFor();
  assert.deepEqual(await violations(page), []);
  await world.astra("plans", "retry", id);
  await eventually(async () => {
    const { items } = await world.astra("ledger", "story", id);
    const ends = items.filter((record) => record.type === "agent_step_finished");
    assert.deepEqual(ends.map((record) => record.data.step), [1, 1]);
  });
  assert.deepEqual(page.complaints, []);
});

test("somebody talks with the agent, which works, waits for a decision, and says so", async () => {
  const write = { tool: "write_file", arguments: { path: "tea.md", content: "milk" } };
  const fetch = { tool: "fetch_url", arguments: { url: "https://example.com/tea" } };
  const turns = [[write], [fetch], ["I wrote it down, and would ", "like to look it up."]];
  model.talk = () => turns.shift();
  const page = await world.page();
  await pressPair(page, "g", "h");
  await page.getByText("Say something to the agent").waitFor();
  await page.getByLabel("Message to the agent").fill(`Tea needs milk ${HOSTILE.html}`);
  await page.keyboard.press("Enter");
  await page.waitForURL("**/chat?with=chat_*");
  await page.getByText("I wrote it down, and would like to look it up.").waitFor();
  await page.getByText("done", { exact: true }).waitFor();
  await page.getByText("waits for you", { exact: true }).waitFor();
  await eventually(async () => assert.ok(await isInFocus(page.getByLabel("Message to the agent"))));
  assert.deepEqual(await violations(page), []);
  await page.getByRole("link", { name: "Look at it and decide" }).click();
  await page.getByText("https://example.com/tea").first().waitFor();
  assert.deepEqual(page.complaints, []);
});

test("an answer is cut off, what was said stays, and another tab sees it", async () => {
  let go;
  const held = new Promise((done) => {
    go = done;
  });
  model.talk = () => ["Once upon a time", held, " there was more."];
  const other = await world.page({ viewport: PHONE, colorScheme: "dark" });
  const page = await world.page();
  await world.go(page, "/chat");
  await page.getByLabel("Message to the agent").fill("Tell me a story");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("Once upon a time").waitFor();
  await page.getByRole("button", { name: "Cut off" }).click();
  await page.getByText("Cut off here.").waitFor();
  go();
  await world.go(other, new URL(page.url()).pathname + new URL(page.url()).search);
  await other.getByText("Once upon a time").waitFor();
  assert.equal(await other.getByText("there was more").count(), 0);
  assert.deepEqual(await violations(other), []);
  const wider = await other.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(wider <= 0, `${wider} px too wide`);
});

test("a long request is offered as a project, and a no ends that", async () => {
  const turns = [
    [{ tool: "suggest_project", arguments: { description: "Answer every letter" } }],
    ["That is a lot. Shall I?"],
  ];
  model.talk = () => turns.shift();
  const page = await world.page();
  await world.go(page, "/chat");
  await page.getByLabel("Message to the agent").fill("Answer every letter there is");
  await page.keyboard.press("Enter");
  await page.getByText("This could be a project").waitFor();
  assert.deepEqual(await violations(page), []);
  await page.getByRole("button", { name: "No, thanks" }).click();
  await page.getByText("This could be a project").waitFor({ state: "detached" });
  await page.getByText("That is a lot. Shall I?").waitFor();
});

test("while the persona is off, the page says so and what to do", async () => {
  await world.astra("flags", "set", "PERSONA_MODE_ENABLED", "off");
  const page = await world.page({ viewport: PHONE });
  await world.go(page, "/chat");
  await page.getByText("astra flags set PERSONA_MODE_ENABLED on").waitFor();
  assert.equal(await page.getByLabel("Message to the agent").count(), 0);
  assert.deepEqual(await violations(page), []);
});
