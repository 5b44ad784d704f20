/** What a person writes into the form, as the server and the command line take it. */

import type { MergeScope } from "../api/permissions";
import { quoted } from "../parts/shell";

const DAY_MS = 86_400_000;

/** When a permission ends that lasts so many days, as the server writes times. */
export function endAfter(days: number, now: number): string {
  return new Date(now + days * DAY_MS).toISOString().replace(/(\.\d{3})Z$/, "$1000Z");
}

export function readPaths(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}

/** The command that asks for the same permission in a terminal. */
export function spellMergeCommand(scope: MergeScope): string {
  return [
    "astra permissions add-merge",
    ...scope.paths.map((path) => `--path ${quoted(path)}`),
    `--mutants ${scope.mutants} --most-files ${scope.most_files} --most-lines ${scope.most_lines}`,
    `--uses ${scope.uses} --until ${scope.until}${scope.deploy ? " --deploy" : ""}`,
  ].join(" ");
}
