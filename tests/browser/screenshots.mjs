// Pictures of every page at both sizes, for the documents: node screenshots.mjs FOLDER
import assert from "node:assert/strict";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Model, reaching } from "./model.mjs";
import { DESKTOP, eventually, furnish, grow, PHONE, places, World } from "./world.mjs";

const folder = process.argv[2];
const IN_THE_DARK = ["inbox", "review", "live"];

/** Take a picture as WebP, which the browser makes itself and which is a third of the size. */
async function picture(page, path) {
  await page.evaluate(hideMachine, [
    [process.env.ASTRA_PYTHON, "python3"],
    [world.folder, "/srv/astra"],
  ]);
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 85 });
  await session.detach();
  await writeFile(path, Buffer.from(data, "base64"));
}

/** Write what every machine calls in its own way as the documents would; runs in the page. */
function hideMachine(places) {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    for (const [here, elsewhere] of places) {
      if (texts.currentNode.data.includes(here)) {
        texts.currentNode.data = texts.currentNode.data.replaceAll(here, elsewhere);
      }
    }
  }
}

await mkdir(folder, { recursive: true });
for (const old of await readdir(folder)) {
  if (/-(desk|phone)-(light|dark)\.(png|webp)$/.test(old)) await rm(join(folder, old));
}
const model = await Model.make(() => reaching("packages.example.com"));
const world = await World.make({ environment: model.environment });
try {
  const made = await furnish(world);
  const more = { chat: `/chat?with=${await chat()}`, blocked: `/plans/${await blocked()}` };
  const pages = Object.entries({ ...places(made), ...more });
  for (const [size, viewport] of Object.entries({ desk: DESKTOP, phone: PHONE })) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await world.page({ viewport, colorScheme });
      const shown = pages.filter(([name]) => colorScheme === "light" || IN_THE_DARK.includes(name));
      for (const [name, path] of shown) {
        await world.go(page, path);
        if (name === "review") await lines(page);
        if (name === "edit-schedule") await edited(page);
        await picture(page, join(folder, `${name}-${size}-${colorScheme}.webp`));
        if (name === "review") {
          await page.evaluate(() => scrollTo(0, 0));
          await picture(page, join(folder, `evidence-${size}-${colorScheme}.webp`));
        }
      }
      await page.context().close();
    }
  }
  await grow(world);
  for (const [size, viewport] of Object.entries({ desk: DESKTOP, phone: PHONE })) {
    const page = await world.page({ viewport });
    for (const [name, [path, title]] of Object.entries({ operators: ["/safety", "Operators"], fleet: ["/releases", "Fleet"] })) {
      await world.go(page, path);
      const card = page.locator("section", { has: page.getByRole("heading", { name: title, exact: true }) });
      await card.first().evaluate((node) => node.scrollIntoView({ block: "center" }));
      await picture(page, join(folder, `${name}-${size}-light.webp`));
    }
    await page.context().close();
  }
} finally {
  await world.end();
  await model.end();
}

/** A plan that tried to reach what it was not granted. */
async function blocked() {
  const { id } = await world.plan({ manifest: { skills: ["sandbox"] } });
  await world.astra("plans", "approve", id);
  await eventually(async () =>
    assert.equal((await world.astra("plans", "show", id)).state, "blocked_on_permission"),
  );
  return id;
}

/** A conversation in which the agent did something, and waits for something else. */
async function chat() {
  const turns = [
    [{ tool: "write_file", arguments: { path: "notes/greeting.md", content: "Greet kindly." } }],
    ["I noted that. Saying goodbye aloud is the change that waits for your review."],
    [{ tool: "fetch_url", arguments: { url: "https://example.com/greetings" } }],
    ["I would like to read how others do it, and need your approval for that."],
  ];
  model.talk = () => turns.shift();
  const { conversation } = await world.astra("chat", "Remember to greet people kindly, please.");
  await world.astra("chat", "How do others greet?", "--conversation", conversation);
  return conversation;
}

/** Show a schedule that is being edited: when it would run, and what changes. */
async function edited(page) {
  await page.getByLabel("Cron expression").fill("30 8 * * *");
  await page.getByText("At 08:30").waitFor();
}

/** Show the lines of a review with the finding and the remark beside them. */
async function lines(page) {
  await page.getByText("Why does it have to speak?").evaluate((node) => {
    node.scrollIntoView({ block: "center" });
  });
}
