// Writes a brotli file beside every text file of the built pages, which the daemon serves as it is:
// compressing that hard takes a second, so it is done once.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync } from "node:zlib";

const folder = process.argv[2];
for (const name of readdirSync(folder, { recursive: true })) {
  if (!/\.(js|css|html|svg)$/.test(name)) continue;
  const file = join(folder, name);
  writeFileSync(`${file}.br`, brotliCompressSync(readFileSync(file)));
}
