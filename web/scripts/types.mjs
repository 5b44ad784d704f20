// Writes src/api/schema.ts from openapi.json; with --check, only says whether it is up to date.
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";

const here = new URL("..", import.meta.url);
const target = new URL("src/api/schema.ts", here);
const document = new URL("openapi.json", here);
const made = `// Made by \`make web-types\` from openapi.json. Change the routes, not this file.\n${astToString(await openapiTS(document))}`;

if (!process.argv.includes("--check")) {
  await writeFile(target, made);
} else if ((await readFile(target, "utf8")) !== made) {
  process.stderr.write("src/api/schema.ts does not fit openapi.json: run `make web-types`\n");
  process.exit(1);
}
