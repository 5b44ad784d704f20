// Lighthouse over pages of a furnished dashboard: node lighthouse.mjs MODULES RUNS PAGE…
// Prints, for each page, the scores of each run as one line of JSON.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, CHROMIUM, FLAGS, furnish, places, World } from "../tests/browser/world.mjs";

const [modules, runs, ...names] = process.argv.slice(2);
const require = createRequire(join(modules, "package.json"));
const { default: lighthouse } = await import(require.resolve("lighthouse"));
const KINDS = ["performance", "accessibility", "best-practices"];

/** A browser that somebody has logged in with; a second tab of it is let in by the first. */
async function loggedIn(world) {
  const folder = await mkdtemp(join(tmpdir(), "astra-lighthouse-"));
  const options = { executablePath: CHROMIUM, args: [...FLAGS, "--remote-debugging-port=0"] };
  const browser = await chromium.launchPersistentContext(folder, options);
  const page = await browser.newPage();
  const { url } = await world.astra("login");
  await page.goto(url);
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  const [port] = (await readFile(join(folder, "DevToolsActivePort"), "utf8")).split("\n");
  const close = async () => {
    await browser.close();
    await rm(folder, { recursive: true, force: true });
  };
  return { port: Number(port), close };
}

const world = await World.make();
try {
  const pages = places(await furnish(world));
  const browser = await loggedIn(world);
  for (const name of names) {
    for (let run = 0; run < Number(runs); run += 1) {
      const { lhr } = await lighthouse(world.url + pages[name], {
        port: browser.port,
        onlyCategories: KINDS,
        disableStorageReset: true,
        logLevel: "error",
      });
      if (lhr.runtimeError) throw new Error(lhr.runtimeError.message);
      const scores = KINDS.map((kind) => [kind, Math.round(lhr.categories[kind].score * 100)]);
      const missed = Object.values(lhr.audits).filter(
        (audit) => audit.score !== null && audit.score < 0.9 && audit.scoreDisplayMode === "binary",
      );
      const shown = lhr.finalDisplayedUrl;
      console.log(
        JSON.stringify({ page: name, shown, ...Object.fromEntries(scores), missed: missed.map((each) => each.id) }),
      );
    }
  }
  await browser.close();
} finally {
  await world.end();
}
