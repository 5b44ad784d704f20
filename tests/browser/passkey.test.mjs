// A passkey: made here, signed in the terminal, and from then on a person's presence decides.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { propose, World } from "./world.mjs";

let world;
let page;
before(async () => {
  world = await World.make();
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
  const enrolled = await done;
  assert.equal(enrolled.name, "laptop");
  assert.equal(enrolled.origin, world.url);
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
  const change = await propose(world, "Greet", { "agent.py": "def greet(name):\n    return name\n" });
  await world.go(page, `/changes/${change.id}`);
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByRole("button", { name: "Approve with your passkey" }).click();
  await page.getByText("This change is executed").waitFor();
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
