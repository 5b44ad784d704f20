// Pictures of every page at both sizes, for the documents: node screenshots.mjs FOLDER
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { DESKTOP, furnish, PHONE, places, World } from "./world.mjs";

const folder = process.argv[2];
await mkdir(folder, { recursive: true });
const world = await World.make();
try {
  const pages = places(await furnish(world));
  for (const [size, viewport] of Object.entries({ desk: DESKTOP, phone: PHONE })) {
    for (const colorScheme of ["light", "dark"]) {
      const page = await world.page({ viewport, colorScheme });
      for (const [name, path] of Object.entries(pages)) {
        await world.go(page, path);
        await page.screenshot({ path: join(folder, `${name}-${size}-${colorScheme}.png`) });
      }
      await page.context().close();
    }
  }
} finally {
  await world.end();
}
