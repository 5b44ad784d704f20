// A passkey: made here, signed in the terminal, and from then on a person's presence decides.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { KINDER, TIRED, WELL } from "./target.mjs";
import { eventually, propose, violations, World } from "./world.mjs";

let world;
let page;
before(async () => {
  world = await World.make();
  await world.contract();
  page = await world.page();
  const session = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable");
  await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
});
after(() => world.end());

async function asked(url) {
  const { said } = await world.attempt("tools", "call", "fetch_url", JSON.stringify({ url }));
  return said.approval_id;
}

async function signature(id) {
  const { items } = await world.astra("ledger", "story", id);
  return items.find((record) => record.type === "approval_granted")?.data.authority;
}

const verdict = () => page.getByRole("region", { name: "Your verdict" });

async function signed(type) {
  const { items } = await world.astra("ledger", "tail", "--count", "200");
  return items.findLast((record) => record.type === type).data.authority;
}

async function served() {
  const { app } = await world.astra("status");
  return (await fetch(`http://127.0.0.1:${app.port}/`)).text();
}

test("a login link alone can look and not approve", async () => {
  const id = await asked("https://example.com/look");
  await world.go(page, `/approvals/${id}`);
  await page.getByText(`astra approve ${id}`).waitFor();
  assert.equal(await page.getByRole("button", { name: /^Approve/ }).count(), 0);
});

test("a passkey is made in the browser and counts once the terminal has signed it", async () => {
  const { link, done } = await world.enroll("laptop");
  await page.goto(link);
  await page.getByRole("button", { name: "Make a passkey on this device" }).click();
  await page.getByText("Compare with the terminal").waitFor();
  // It is there for two seconds, so the page itself looks, with each picture that it draws.
  const over = page.waitForFunction(() => document.querySelector("h1")?.textContent === "Done");
  const enrolled = await done;
  assert.equal(enrolled.name, "laptop");
  assert.equal(enrolled.origin, world.url);
  await over;
  await page.getByRole("heading", { name: "Done" }).waitFor({ state: "detached" });
});

test("with it a request is approved on the page, and the record keeps the assertion", async () => {
  const id = await asked("https://example.com/sign");
  await world.go(page, `/approvals/${id}`);
  await page.getByRole("button", { name: "Approve with your passkey" }).click();
  await page.getByRole("heading", { name: "Decided" }).waitFor();
  const authority = await signature(id);
  assert.ok(authority.client_data);
  assert.equal(authority.statement.content.approval, id);
  assert.deepEqual(page.complaints, []);
});

test("with it code writing is turned on, and a change is approved", async () => {
  await world.go(page, "/safety");
  await page.getByRole("button", { name: "Turn on…" }).click();
  await page.getByRole("button", { name: "Turn on with your passkey" }).click();
  await page.getByRole("button", { name: "Turn on…" }).waitFor({ state: "detached" });
  const change = await propose(world, "Greet", WELL);
  await world.go(page, `/changes/${change.id}`);
  await verdict().getByRole("button", { name: "Approve" }).click();
  await page.getByRole("button", { name: "Approve with your passkey" }).click();
  await page.getByText("It was approved without the deploy").waitFor();
});

test("with it every plan is granted something, unless somebody took it back meanwhile", async () => {
  const grant = ["network_domains", "example.org"];
  await world.go(page, "/safety");
  await page.getByText("Add one", { exact: true }).click();
  await page.getByLabel("Which").fill("Example.ORG");
  await page.getByRole("button", { name: "See what it would mean" }).click();
  await page.getByText("example.org", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Grant it with your passkey" }).click();
  await page.getByRole("button", { name: "Take back" }).waitFor();
  assert.equal((await signed("agent_global_grant_added")).statement.content.value, "example.org");
  await page.route("**/api/events", (route) => route.abort());
  await world.go(page, "/safety");
  await world.astra("grants", "remove", ...grant);
  await page.getByText("Add one", { exact: true }).click();
  await page.getByLabel("Which").fill("example.org");
  await page.getByRole("button", { name: "See what it would mean" }).click();
  await page.getByRole("button", { name: "Grant it with your passkey" }).click();
  await page.getByText("was changed since you looked at it").waitFor();
  assert.deepEqual((await world.astra("grants", "list")).items, []);
  await page.unroute("**/api/events");
});

test("with it a plan is approved, with exactly the grants that the page showed", async () => {
  const plan = await world.plan();
  await world.go(page, `/plans/${plan.id}`);
  await page.getByRole("button", { name: "Approve with your passkey" }).click();
  await page.getByRole("button", { name: "Abort…" }).waitFor();
  const { items } = await world.astra("ledger", "story", plan.id);
  const granted = items.find((record) => record.type === "approval_granted");
  assert.ok(granted.data.authority.client_data);
  assert.ok(items.some((record) => record.type === "agent_plan_approved"));
  await world.astra("plans", "abort", plan.id);
});

async function proposeGoal(text, button) {
  await world.go(page, "/goals");
  await page.keyboard.press("n");
  await page.getByLabel("What is to be achieved").fill(text);
  await page.getByLabel("What is to be done").fill("investigate_topic");
  await page.getByLabel("It is reached when this file is there").fill("agent.py");
  await page.getByRole("button", { name: button, exact: true }).click();
  await page.waitForURL("**/goals/goal_*");
  return page.url().split("/").at(-1);
}

test("with it a goal is proposed as the operator's own, adopted, and seen to its end", async () => {
  const id = await proposeGoal("How does the agent answer?", "Propose it");
  const created = await signed("goal_created");
  assert.ok(created.client_data);
  assert.equal(created.statement.content.text, "How does the agent answer?");
  assert.equal((await world.astra("goals", "show", id)).source, "operator");
  await page.getByRole("button", { name: "Approve with your passkey" }).click();
  await page.getByRole("main").getByText("satisfied", { exact: true }).first().waitFor();
  assert.ok((await signature(id)).client_data);
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(page.complaints, []);
});

test("unsigned, a goal on the page counts as an agent's", async () => {
  const id = await proposeGoal("What does the agent say?", "Propose it unsigned");
  assert.equal((await world.astra("goals", "show", id)).source, "agent");
});

test("with it the target is deployed from the releases", async () => {
  await world.go(page, "/releases");
  await page.getByRole("button", { name: "Deploy with your passkey" }).click();
  await page.getByText("it stayed healthy for its whole watch").waitFor();
  const [release] = (await world.astra("releases")).items;
  assert.equal(release.live, true);
  assert.equal((await signed("deployment_ordered")).statement.content.commit, release.commit);
});

test("a change is approved with its deploy, and the page follows it until it is live", async () => {
  const change = await propose(world, "Greet kindly", KINDER);
  await world.go(page, `/changes/${change.id}`);
  await page.getByText("As it should be: the new tests notice the change.").waitFor();
  await verdict().getByRole("button", { name: "Approve" }).click();
  await page.getByLabel("deploy it as well").check();
  const approve = page.getByRole("button", { name: "Approve despite 1 red fact" });
  assert.ok(await approve.isDisabled());
  await page.getByLabel(/I read it: 3 findings: 1 danger/).check();
  await page.getByText(/this would replace the target as it came|this would replace “/).waitFor();
  await page.getByRole("dialog").getByText("“Greet kindly”").waitFor();
  assert.deepEqual(await violations(page), []);
  await approve.click();
  const way = page.getByRole("list", { name: "Steps into service" });
  for (const words of [
    "A person approved exactly this commit",
    "It is part of trunk",
    "files was built and sealed",
    "new connections go to it",
    "It stayed healthy for its whole watch: it is live.",
  ]) {
    await way.getByText(words).waitFor();
  }
  assert.match(await served(), /Good day, dear/);
  assert.deepEqual(page.complaints, []);
});

test("with it a release is brought back", async () => {
  await world.go(page, "/releases");
  await page.getByRole("button", { name: "Roll back to this…" }).click();
  await page.getByRole("button", { name: "Roll back with your passkey" }).click();
  await eventually(async () => assert.match(await served(), /Good day, you/));
  assert.ok((await signed("rollback_ordered")).client_data);
});

test("what fails in service is taken back by itself, and the page says why", async () => {
  const change = await propose(world, "A faster health answer", TIRED);
  await world.go(page, `/changes/${change.id}`);
  await page.getByRole("heading", { name: "Tests" }).waitFor();
  assert.equal((await world.attempt("changes", "approve", change.id, "--deploy")).code, 1);
  const way = page.getByRole("list", { name: "Steps into service" });
  await way.getByText("It failed:").waitFor();
  await way.getByText("serves again; nobody had to act.").waitFor();
  await page.getByText("taken back", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Look at the releases" }).click();
  await page.getByRole("heading", { name: "Live now" }).waitFor();
});

test("with it work starts again after a stop", async () => {
  await world.astra("stop", "--now");
  await world.go(page, "/");
  await page.getByRole("button", { name: "Start again with your passkey" }).click();
  await page.getByRole("button", { name: "Stop" }).waitFor();
  assert.equal((await world.astra("status")).stopped, false);
});

test("and a person comes back in with it", async () => {
  await world.go(page, "/");
  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByRole("button", { name: "Come in with a passkey" }).click();
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
});

test("a standing permission to merge is signed on the page, counted there, and taken back", async () => {
  await world.go(page, "/permissions");
  await page.getByText("No change is permitted in advance here").waitFor();
  await page.getByText("Add one").first().click();
  await page.getByLabel("Paths that a change may touch").fill("docs/ notes/today.md");
  await page.getByRole("button", { name: "See what it would mean" }).first().click();
  const sentence = /touches nothing but docs\/, notes\/today\.md is merged without asking me, at most 5 times/;
  await page.getByText(sentence).waitFor();
  await page.getByRole("button", { name: "Permit it with your passkey" }).click();
  await page.getByText(/0 of 5 used, ends in \d/).waitFor();
  assert.ok((await signed("merge_permission_added")).client_data);
  assert.deepEqual(await violations(page), []);
  await page.getByRole("button", { name: "Take back" }).click();
  await page.getByText("removed", { exact: true }).waitFor();
  assert.deepEqual((await world.astra("permissions", "list")).items, []);
  assert.deepEqual(page.complaints, []);
});

test("so is one for calls that reach a host", async () => {
  await world.go(page, "/permissions");
  await page.getByText("Add one").last().click();
  await page.getByLabel("Host that may be read from").fill("docs.example.net");
  await page.getByRole("button", { name: "See what it would mean" }).last().click();
  await page.getByRole("button", { name: "Permit it with your passkey" }).click();
  await page.getByText("0 of 20 used").waitFor();
  const [permission] = (await world.astra("permissions", "list")).items;
  assert.deepEqual([permission.tool, permission.host], ["fetch_url", "docs.example.net"]);
});
