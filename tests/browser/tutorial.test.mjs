// First steps, as they stand in the tutorial: every command typed, everything pressed, in order.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { eventually, launch, PATIENCE } from "./world.mjs";

const ROOT = new URL("../../", import.meta.url).pathname;
const PYTHON = process.env.ASTRA_PYTHON;
const COMMAND = JSON.parse(
  process.env.ASTRA_COMMAND ?? JSON.stringify([PYTHON, "-m", "astra.interfaces.cli.main"]),
);
const MARK = "\u001e";
/** What only looks, and may be looked at again: what was pressed before goes on meanwhile. */
const LOOKS = /^astra (changes list|releases|inbox)/;
const WAITS = "astra passkeys enroll --name laptop";

let home;
let shell;
let browser;
let page;
let waiting;

before(async () => {
  home = await mkdtemp(join(tmpdir(), "astra-tutorial-"));
  await mkdir(join(home, "bin"));
  const astra = join(home, "bin", "astra");
  await writeFile(astra, `#!/bin/sh\nexec ${COMMAND.map((word) => `'${word}'`).join(" ")} "$@"\n`);
  await chmod(astra, 0o755);
  await mkdir(join(home, "astra"));
  await symlink(join(ROOT, "examples"), join(home, "astra", "examples"));
  shell = new Shell(home);
  browser = await launch();
  page = await openPage();
});
after(async () => {
  waiting?.process.kill("SIGKILL");
  await browser.close();
  await shell.run("astra down --data-root ~/astra-trial");
  shell.process.stdin.end();
  await once(shell.process, "close");
  await rm(home, { recursive: true, force: true });
});

test("every line of the tutorial does what it says", async () => {
  const text = await readFile(join(ROOT, "docs/tutorial/first-steps.md"), "utf8");
  const steps = [...readSteps(text)];
  assert.ok(steps.filter((step) => step.press).length > 12, "what to do in the dashboard is gone");
  assert.ok(steps.filter((step) => step.command).length > 25, "the commands are gone");
  for (const step of steps) {
    if (step.press) await perform(step.press, waiting);
    else if (step.command === WAITS) waiting = await shell.begin(step.command, step.expected);
    else if (LOOKS.test(step.command)) await eventually(async () => assertFits(step, await shell.run(step.command)));
    else assertFits(step, await shell.run(step.command));
  }
  assert.match(waiting.printed, /done: \S+ may decide in your name/);
  assert.equal(await shell.run("ls ~ | grep -v -e '^astra$' -e '^bin$'"), "");
});

/** Give what the page tells a reader to do, in its order: commands, and items of lists. */
function* readSteps(text) {
  const parts = /^```(\w*)\n([^]*?)^```|^- (.+)$/gm;
  for (const [, language, block, item] of text.matchAll(parts)) {
    if (item) yield { press: item };
    if (language !== "console") continue;
    for (const step of block.split(/^\$ /m).slice(1)) {
      const [command, ...printed] = step.split("\n");
      yield { command, expected: printed.join("\n") };
    }
  }
}

/** Do one item of a list; one that is not understood is not run, and fails. */
async function perform(item, terminal) {
  const [, verb, name] = /^(\w+) (?:the link|\*\*(.+?)\*\*)(?: in the terminal)?\.?$/.exec(item) ?? [];
  const verbs = {
    Open: () => page.goto(/http:\S+\/enroll#\S+/.exec(terminal.printed)[0]),
    Press: () => page.getByRole("button", { name: new RegExp(`^${RegExp.escape(name)}`) }).first().click(),
    Choose: () => page.getByRole("link", { name, exact: true }).first().click(),
    Tick: () => page.getByLabel(name).check(),
    See: () => page.getByText(name).first().waitFor(),
    Type: () => terminal.type(name),
  };
  assert.ok(verbs[verb], `nobody runs this line: ${item}`);
  await verbs[verb]().catch((error) => {
    throw new Error(`${item}: ${error.message}`);
  });
}

function assertFits({ command, expected }, printed) {
  assert.match(`${printed.trimEnd()}\n`, pattern(`${expected.trimEnd()}\n`), command);
}

/** Make `…` stand for anything, and alone on a line for any number of lines. */
function pattern(expected) {
  const lines = expected.match(/.*\n/g).map((line) =>
    line === "…\n" ? "(?:.*\\n)*" : line.split("…").map(RegExp.escape).join(".*"),
  );
  return new RegExp(`^${lines.join("")}$`);
}

async function openPage() {
  const context = await browser.newContext();
  context.setDefaultTimeout(PATIENCE);
  const opened = await context.newPage();
  const session = await context.newCDPSession(opened);
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
  return opened;
}

/** One shell for all commands, as a person has whose only setting is a port that is free. */
class Shell {
  constructor(folder) {
    const path = [join(folder, "bin"), dirname(PYTHON), process.env.PATH].join(delimiter);
    this.environment = { HOME: folder, PATH: path, LC_ALL: "C.UTF-8", ASTRA_PORT: "0" };
    const options = { cwd: join(folder, "astra"), env: this.environment };
    this.process = spawn("bash", { ...options, stdio: ["pipe", "pipe", "pipe"] });
    this.printed = "";
    this.process.stdout.on("data", (chunk) => {
      this.printed += chunk;
    });
  }

  async run(command) {
    this.printed = "";
    this.process.stdin.write(`{ ${command}\n} 2>&1 </dev/null; printf '\\036'\n`);
    await eventually(() => assert.ok(this.printed.endsWith(MARK), this.printed), 3000);
    return this.printed.slice(0, -1);
  }

  /** Begin a command that waits for a person, on a terminal of its own. */
  async begin(command, expected) {
    const lines = (await this.run("env")).split("\n").map((line) => line.split(/=(.*)/s));
    const environment = { ...Object.fromEntries(lines.filter(([name]) => name)), TERM: "dumb" };
    const begun = new Begun(command, { env: environment, cwd: this.environment.HOME });
    await eventually(() => assert.match(begun.printed.replaceAll("\r", ""), pattern(expected)), 1200);
    return begun;
  }
}

class Begun {
  constructor(command, options) {
    this.printed = "";
    this.process = spawn("script", ["-qec", command, "/dev/null"], options);
    this.process.stdout.on("data", (chunk) => {
      this.printed += chunk;
    });
  }

  async type(line) {
    await eventually(() => assert.match(this.printed, /\[y\/N\]/), 1200);
    this.process.stdin.write(`${line}\n`);
  }
}
