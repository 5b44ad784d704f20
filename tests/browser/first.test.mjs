// The first five minutes: from `astra up` to the first approval with a passkey, each act counted.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { after, before, test } from "node:test";
import { eventually, launch, tooSmall, violations, World } from "./world.mjs";

const MOST_ACTIONS = 6;
const PASSPHRASE = "only ever typed";

/** A terminal in which a person types; `script` gives it a tty of its own. */
class Terminal {
  constructor(world, ...words) {
    const command = [process.env.ASTRA_PYTHON, "-m", "astra.interfaces.cli.main", ...words].join(" ");
    this.printed = "";
    const environment = { ...world.environment, TERM: "xterm" };
    delete environment.ASTRA_OPERATOR_PASSPHRASE;
    const options = { env: environment, cwd: world.folder, stdio: ["pipe", "pipe", "inherit"] };
    this.process = spawn("script", ["-qec", command, "/dev/null"], options);
    this.process.stdout.on("data", (chunk) => {
      this.printed += chunk;
    });
    this.ended = new Promise((done) => this.process.once("close", done));
  }

  async shows(pattern) {
    await eventually(() => assert.match(this.printed, pattern));
    return pattern.exec(this.printed);
  }

  type(line) {
    this.process.stdin.write(`${line}\n`);
  }
}

let world;
let daemon;
const actions = [];
const act = (words) => actions.push(words);

before(async () => {
  world = await World.unused({ passphrase: PASSPHRASE });
  await world.attempt("tools", "call", "fetch_url", '{"url": "https://example.com/weather"}');
  world.browser = await launch();
});
after(async () => {
  await world.browser.close();
  daemon?.process.stdin.end();
  await world.attempt("down");
  await world.end();
});

test("from `astra up` to the first approval with a passkey in at most 6 actions", async () => {
  act("astra up");
  daemon = new Terminal(world, "up", "--port", "0");
  await daemon.shows(/serving http\S+/);

  act("astra passkeys enroll");
  const terminal = new Terminal(world, "passkeys", "enroll");
  const [link] = await terminal.shows(/http:\S+\/enroll#\S+(?=\s)/);

  act("open the link");
  const context = await world.profile();
  const page = await context.newPage();
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  const session = await context.newCDPSession(page);
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
  await page.goto(link);

  act("make the passkey");
  await page.getByRole("button", { name: "Make a passkey on this device" }).click();
  await page.getByText("Compare with the terminal").waitFor();
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(await tooSmall(page), []);
  const digits = (await page.locator("p.font-mono").innerText()).trim();
  await terminal.shows(new RegExp(`If the page shows ${digits}, sign it`));

  act("type the passphrase");
  // It is there for two seconds, so the page itself looks, with each picture that it draws.
  const counts = page.waitForFunction(() => document.body.innerText.includes("This passkey counts"));
  terminal.type(PASSPHRASE);
  await terminal.shows(/done: \S+ may decide in your name/);
  await terminal.ended;
  await counts;

  // By itself: the page comes in and leads to the request that waits.
  await page.waitForURL("**/approvals/apr_*");
  const sign = page.getByRole("button", { name: "Approve with your passkey" });
  await sign.waitFor();

  act("approve with the passkey");
  await sign.click();
  await page.getByRole("heading", { name: "Decided" }).waitFor();
  assert.ok(actions.length <= MOST_ACTIONS, actions.join(", "));
  const { items } = await world.astra("approvals", "--all");
  assert.deepEqual(items.map((item) => item.state), ["approved"]);

  const other = await context.newPage();
  await other.goto(link);
  await other.getByRole("button", { name: "Make a passkey on this device" }).click();
  await other.getByText("login link already used or expired").waitFor();
  assert.deepEqual(complaints, []);
});
