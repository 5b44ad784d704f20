// A real daemon on a throwaway data root, and a real browser that looks at it.
import { execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { contract, KINDER, TARGET } from "./target.mjs";

const require = createRequire(new URL("../../web/package.json", import.meta.url));
export const { chromium } = require("playwright-core");
const AXE = require.resolve("axe-core/axe.min.js");
const run = promisify(execFile);
const PYTHON = process.env.ASTRA_PYTHON;
const [ASTRA, ...WORDS] = JSON.parse(
  process.env.ASTRA_COMMAND ?? JSON.stringify([PYTHON, "-m", "astra.interfaces.cli.main"]),
);
export const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
export const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const HOSTILE = {
  html: '<img src=x onerror="document.title=1"><script>document.title=2</script>',
  escapes: "\u001b[2J\u001b[31mred\u0007",
  bidi: "safe\u202etxt.exe\u2066",
};
/** How many times slower the browser's processor shall seem; shows what leans on speed. */
const SLOWDOWN = Number(process.env.BROWSER_SLOWDOWN ?? 1);
/** How long a page may take on a machine that is busy with other tests. */
export const PATIENCE = 180_000;
export const PHONE = { width: 390, height: 844 };
export const DESKTOP = { width: 1280, height: 800 };
export const WIDE = { width: 1440, height: 900 };

export const PLAN = {
  schema_version: 1,
  goals: ["Collect what people asked about the weather and answer it in one note"],
  checkpoints: [
    {
      title: "Read the questions",
      description: "Go through the notes of the last week and list every question about the weather.",
      expected_output: "a list in notes/weather.md",
      step_budget: 12,
    },
    {
      title: "Look it up",
      description: "Ask the weather service once for each place that was named.",
      expected_output: "one line for each place",
      step_budget: 20,
    },
  ],
  manifest: { network_domains: ["example.com"], read_paths: ["docs"], write_paths: ["docs/weather"] },
  estimated_duration_minutes: 20,
  assumptions: ["The questions are in English"],
};

export class World {
  /** Make one; `environment` is what the daemon is started with besides. */
  static async make({ environment = {} } = {}) {
    const world = await World.unused({ environment });
    await world.keepSigned();
    await world.up();
    world.browser = await launch();
    return world;
  }

  /** Make a data root that nobody has used yet. */
  static async unused({ environment = {}, passphrase = "correct horse battery" } = {}) {
    const world = new World();
    world.contexts = [];
    world.folder = await mkdtemp(join(tmpdir(), "astra-browser-"));
    world.environment = {
      PATH: process.env.PATH,
      HOME: join(world.folder, "home"),
      XDG_CONFIG_HOME: join(world.folder, "config"),
      AGENT_DATA_ROOT: join(world.folder, "data"),
      ASTRA_OPERATOR_PASSPHRASE: passphrase,
      ...environment,
    };
    await mkdir(world.environment.HOME);
    await world.repository();
    await world.astra("init", "target", "--throwaway");
    return world;
  }

  async repository() {
    const target = join(this.folder, "target");
    for (const [path, content] of Object.entries(TARGET)) {
      await mkdir(dirname(join(target, path)), { recursive: true });
      await writeFile(join(target, path), content);
    }
    const identity = ["-c", "user.name=Someone", "-c", "user.email=someone@localhost"];
    await run("git", ["init", "-q", "-b", "trunk"], { cwd: target });
    await run("git", ["add", "."], { cwd: target });
    await run("git", [...identity, "commit", "-qm", "one"], { cwd: target });
  }

  /** Run a command as the operator would; give what it printed, read as JSON. */
  async astra(...words) {
    const done = await this.attempt(...words);
    if (done.code) throw new Error(`astra ${words.join(" ")}: ${JSON.stringify(done.said)}`);
    return done.said;
  }

  async attempt(...words) {
    const command = [...WORDS, ...words, "--json"];
    const options = { env: this.environment, cwd: this.folder, maxBuffer: 1 << 26 };
    try {
      const { stdout } = await run(ASTRA, command, options);
      return { code: 0, said: JSON.parse(stdout) };
    } catch (error) {
      return { code: error.code, said: readable(error.stdout) ?? error.stderr };
    }
  }

  /** Leave out what `init` found and nobody signed: it would wait in every inbox. */
  async keepSigned() {
    const { text } = await this.astra("config", "show");
    await writeFile(join(this.folder, "data", "astra.toml"), text);
  }

  /** Sign how the target is tested and served, so that changes have evidence and can go live. */
  async contract(more = "") {
    await writeFile(join(this.folder, "data", "astra.toml"), contract(PYTHON) + more);
    await this.astra("config", "sign");
  }

  /** Enrol another operator, whose key lies in a home of their own. */
  async enlist(name) {
    const own = join(this.folder, `config-${name}`);
    const request = join(this.folder, `${name}.operator.json`);
    const shared = this.environment;
    this.environment = { ...shared, XDG_CONFIG_HOME: own };
    await this.astra("operators", "request", "--name", name, "--out", request).finally(() => {
      this.environment = shared;
    });
    await this.astra("operators", "add", request, "--role", "approver");
  }

  /** Serve the pages, on the port it had before or a free one. */
  async up() {
    const command = [...WORDS, "up", "--port", String(this.port ?? 0)];
    const options = { env: this.environment, cwd: this.folder, stdio: ["ignore", "pipe", "pipe"] };
    this.daemon = spawn(ASTRA, command, options);
    await new Promise((ready, failed) => {
      let said = "";
      this.daemon.stderr.on("data", (chunk) => {
        said += chunk;
        if (said.includes("for a way in")) ready();
      });
      this.daemon.once("exit", () => failed(new Error(said)));
    });
    const { daemon } = await this.astra("status");
    this.url = daemon.url;
    this.port = daemon.port;
    this.socket = daemon.socket;
  }

  async down() {
    const left = new Promise((done) => this.daemon.once("exit", done));
    this.daemon.kill("SIGTERM");
    await left;
  }

  /** Open a browser's profile of its own, in which nobody is logged in. */
  async profile(options = {}) {
    const context = await this.browser.newContext(options);
    context.setDefaultTimeout(PATIENCE);
    this.contexts.push(context);
    return context;
  }

  /** Open a page that is logged in, and note whatever it complains about. */
  async page({ viewport = DESKTOP, colorScheme = "light", ...options } = {}) {
    const context = await this.profile({ viewport, colorScheme, ...options });
    const page = await context.newPage();
    if (SLOWDOWN > 1) {
      const session = await context.newCDPSession(page);
      await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWDOWN });
    }
    page.complaints = [];
    page.on("pageerror", (error) => page.complaints.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error" && !/net::ERR|status of/.test(message.text())) {
        page.complaints.push(message.text());
      }
    });
    await page.goto(await this.login());
    await page.getByRole("heading", { name: "Inbox" }).waitFor();
    return page;
  }

  /** Close what a test opened: pages that stay open go on following everything that happens. */
  async closePages({ passed }) {
    if (!passed) await this.tellPages();
    await Promise.all(this.contexts.splice(0).map((context) => context.close()));
  }

  /** Print what the pages of a test that failed showed at its end. */
  async tellPages() {
    for (const page of this.contexts.flatMap((context) => context.pages())) {
      const text = await page.locator("body").innerText({ timeout: 5_000 }).catch(String);
      console.log(`${page.url()} showed:\n${text.slice(0, 3_000)}`);
    }
  }

  /** Give a link that lets somebody in once. What `astra login` does, without its start. */
  login() {
    return new Promise((done, failed) => {
      // A connection of its own: one that was kept may be closed by the daemon at this very moment.
      const where = { socketPath: this.socket, path: "/api/login", method: "POST", agent: false };
      const asked = request({ ...where, headers: { Host: "localhost" } }, async (answer) => {
        const said = JSON.parse(Buffer.concat(await answer.toArray()).toString());
        said.url ? done(said.url) : failed(new Error(JSON.stringify(said)));
      });
      asked.on("error", failed);
      asked.end();
    });
  }

  /** Draft a plan, as the agent would. */
  async plan(changes = {}) {
    const file = join(this.folder, "plan.json");
    await writeFile(file, JSON.stringify({ ...PLAN, ...changes }));
    return this.astra("plans", "draft", "--file", file);
  }

  /** Begin to enrol a passkey in a terminal: the link it prints, and how it ends. */
  async enroll(name) {
    const command = [...WORDS, "passkeys", "enroll", "--name", name, "--yes", "--json"];
    const options = { env: this.environment, cwd: this.folder, stdio: ["ignore", "pipe", "pipe"] };
    const terminal = spawn(ASTRA, command, options);
    let printed = "";
    terminal.stdout.on("data", (chunk) => {
      printed += chunk;
    });
    const done = new Promise((ended) => {
      terminal.once("close", () => ended(readable(printed)));
    });
    const link = await new Promise((found) => {
      let said = "";
      terminal.stderr.on("data", (chunk) => {
        said += chunk;
        const [url] = /http:\S+(?=\s)/.exec(said) ?? []; // to its end, also where it comes in pieces
        if (url) found(url);
      });
    });
    return { link, done };
  }

  async go(page, path) {
    await page.goto(this.url + path);
    await page.locator("h1").waitFor();
    await page.locator('[aria-label="Loading"]').first().waitFor({ state: "detached" });
  }

  /** The app outlives the daemon by design; it shall not outlive its story. */
  async endApp() {
    const { said } = await this.attempt("status");
    if (!said?.app) return;
    await this.attempt("stop", "--now");
    try {
      process.kill(said.app.holder, "SIGTERM");
    } catch {
      // It left with what it held.
    }
  }

  async end() {
    await this.browser?.close();
    await this.endApp();
    if (this.daemon?.exitCode === null) await this.down();
    await rm(this.folder, { recursive: true, force: true });
  }
}

export function launch() {
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS, timeout: PATIENCE });
}

/** Press two keys in a row as one who types does: the page forgets the first one after a moment. */
export async function pressPair(page, first, second) {
  await Promise.all([page.keyboard.press(first), page.keyboard.press(second)]);
}

/**
 * Count what axe finds wrong with a page, by all its rules or some; the words say what and where.
 * What passes is looked at as well, but not described element by element.
 */
export async function violations(page, rules = null) {
  if (!(await page.evaluate(() => "axe" in window))) {
    const session = await page.context().newCDPSession(page);
    const { readFile } = await import("node:fs/promises");
    await session.send("Runtime.evaluate", { expression: await readFile(AXE, "utf8") });
  }
  const options = { resultTypes: ["violations"], ...(rules ? { runOnly: rules } : {}) };
  const found = await page.evaluate((chosen) => window.axe.run(chosen), options);
  return found.violations.flatMap((rule) =>
    rule.nodes.map((node) => `${rule.id}: ${node.target.join(" ")} ${node.failureSummary}`),
  );
}

/**
 * Name what is smaller than 24 px to hit. As in WCAG 2.5.8, a link inside a sentence is as high as
 * its line, and what the browser draws by itself (a box to tick beside its label) goes with it.
 */
export async function tooSmall(page, least = 24) {
  return page.evaluate((least) => {
    const all = "a[href], button, input, select, textarea, summary, [role=button], [role=option]";
    const shown = [...document.querySelectorAll(all)].filter((element) => {
      const { width, height } = element.getBoundingClientRect();
      return width > 1 && height > 1 && element.checkVisibility({ visibilityProperty: true });
    });
    const inSentence = (element) =>
      element.tagName === "A" &&
      getComputedStyle(element).display === "inline" &&
      (element.closest("p, li, td, dd, figcaption")?.textContent.trim().length ?? 0) >
        element.textContent.trim().length;
    const size = (element) => (element.closest("label") ?? element).getBoundingClientRect();
    return shown
      .filter((element) => !inSentence(element))
      .filter((element) => Math.min(size(element).width, size(element).height) < least - 0.5)
      .map((element) => {
        const { width, height } = size(element);
        const name = (element.getAttribute("aria-label") ?? element.textContent).trim().slice(0, 40);
        return `${element.tagName} "${name}" ${Math.round(width)}x${Math.round(height)}`;
      });
  }, least);
}

/** Name the buttons whose text does not fit into them. */
export function spilling(page) {
  return page.evaluate(() =>
    [...document.querySelectorAll("button")]
      .filter((button) => button.checkVisibility() && button.scrollWidth > button.clientWidth + 1)
      .map((button) => `"${button.textContent.trim().slice(0, 40)}" ${button.scrollWidth}px`),
  );
}

/** Things for every page to show: wanted, scheduled, asked for, hostile. */
export async function furnish(world) {
  const made = {};
  const [wish, schedule] = await Promise.all([
    world.astra("desires", "record", "Answer in the language a person wrote in", "--strength", "0.9", "--tag", "tone"),
    world.astra("schedules", "create", "--name", "Morning survey", "--cron", "0 7 * * 1-5", "--timezone", "Europe/Berlin", "--tool", "astra.desires.list", "--payload", "{}", "--tier", "0", "--budget", "4"),
    world.astra("desires", "record", "Keep a list of open questions and ask them together", "--strength", "0.7", "--tag", "habit"),
    world.astra("desires", "record", "Remember what worked the last time a test failed", "--strength", "0.5"),
    world.astra("schedules", "create", "--name", "Read the news page", "--cron", "*/30 * * * *", "--tool", "fetch_url", "--payload", '{"url": "https://example.org/feed"}', "--tier", "2", "--budget", "8"),
  ]);
  made.desire = wish.id;
  made.schedule = schedule.id;
  const [asked, promoted] = await Promise.all([
    world.attempt("tools", "call", "fetch_url", '{"url": "https://example.com/weather"}'),
    world.attempt("desires", "promote", made.desire),
    world.astra("desires", "reinforce", made.desire),
    world.astra("schedules", "run", made.schedule),
  ]);
  made.approval = asked.said.approval_id;
  made.promotion = promoted.said.approval_id;
  await world.astra("flags", "set", "ASTRA_CODE_WRITE_ENABLED", "on");
  await world.contract();
  await world.astra("permissions", "add-merge", "--path", "notes/", "--until", "3d");
  await world.astra("permissions", "add", "--host", "docs.example.net", "--until", "3d");
  await world.astra("deploy");
  const shipped = await propose(world, "Say goodbye as well as hello.", {
    "agent.py": TARGET["agent.py"].replace("Bye, {name}", "Goodbye, {name}"),
  });
  await world.astra("changes", "approve", shipped.id, "--deploy");
  made.shipped = shipped.id;
  made.change = (
    await propose(world, "People said the greeting sounds abrupt. Greet kindly, and say goodbye aloud.", KINDER)
  ).id;
  await world.astra("changes", "comment", made.change, "Nearly there; one question.", "--on", "agent.py:53", "Why does it have to speak?");
  made.plan = (await world.plan()).id;
  made.session = (await world.astra("research", "ask", "How are questions sorted by need?")).id;
  made.belief = (await world.astra("beliefs", "list")).items.find((item) => item.claim === "rolled_back").id;
  const words = ["--task", "investigate_topic", "--file", "agent.py", "--budget", "minutes=30"];
  made.goal = (await world.astra("goals", "create", "Find out where people are greeted", ...words)).id;
  await world.astra("goals", "adopt", made.goal);
  return made;
}

/** Let several people sign, and have the app run on several machines; nobody else needs either. */
export async function grow(world) {
  await world.enlist("anna");
  await world.astra("operators", "rules", "--protected", "2");
  await world.contract('\n[deploy.fleet]\ninstances = ["web-1", "web-2", "web-3"]\nmax_down = 2\n');
}

/** Every page, with something to see on it. */
export function places(made) {
  return {
    inbox: "/",
    decisions: "/approvals",
    approval: `/approvals/${made.approval}`,
    changes: "/changes",
    tasks: "/tasks",
    review: `/changes/${made.change}`,
    live: `/changes/${made.shipped}`,
    goals: "/goals",
    goal: `/goals/${made.goal}`,
    plans: "/plans",
    plan: `/plans/${made.plan}`,
    releases: "/releases",
    desires: "/desires",
    desire: `/desires/${made.desire}`,
    research: "/research",
    session: `/research/${made.session}`,
    beliefs: "/beliefs",
    belief: `/beliefs/${made.belief}`,
    schedules: "/schedules",
    schedule: `/schedules/${made.schedule}`,
    "new-schedule": "/schedules/new",
    chat: "/chat",
    "edit-schedule": `/schedules/${made.schedule}/edit`,
    ledger: "/ledger",
    story: `/ledger/story/${made.approval}`,
    permissions: "/permissions",
    safety: "/safety",
    status: "/status",
    alerts: "/alerts",
    numbers: "/numbers",
  };
}

/** Propose a change as the agent would, from files and their new content. */
export async function propose(world, reason, files, ...words) {
  for (const [path, content] of Object.entries(files)) {
    const local = join(world.folder, "edits", path.replaceAll("/", "_"));
    await mkdir(dirname(local), { recursive: true });
    await writeFile(local, content);
    words.push("--edit", `${path}=${local}`);
  }
  return world.astra("changes", "propose", ...words, "--reason", reason);
}

/**
 * Deliver a push message as the browser would, until it is shown; give what is shown. The browser
 * drops a message for a worker that it has not finished writing down, and says nothing.
 */
export async function pushed(world, page, data) {
  await page.evaluate(() => navigator.serviceWorker.ready);
  const session = await page.context().newCDPSession(page);
  const registration = new Promise((found) => {
    session.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
      if (registrations[0]) found(registrations[0].registrationId);
    });
  });
  await session.send("ServiceWorker.enable");
  const message = { origin: world.url, registrationId: await registration, data };
  const look = () =>
    page.evaluate(async () => {
      const ready = await navigator.serviceWorker.ready;
      const [first] = await ready.getNotifications();
      return first ? { title: first.title, body: first.body } : null;
    });
  return eventually(async () => {
    await session.send("ServiceWorker.deliverPushMessage", message);
    return eventually(async () => (await look()) ?? Promise.reject(new Error("nothing is shown")), 20);
  }, 60);
}

/** Look again until it holds; what is wrong at the end is what is thrown. */
export async function eventually(holds, tries = 1800) {
  for (let left = tries; ; left -= 1) {
    try {
      return await holds();
    } catch (error) {
      if (left === 0) throw error;
      await new Promise((again) => setTimeout(again, 100));
    }
  }
}

function readable(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
