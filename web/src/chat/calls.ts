/** What a tool call of the persona did, in a few words: the arguments that say it. */

import type { Call } from "../api/chat";

const TELLING = ["url", "path", "query", "text", "name", "command", "reason", "title", "id"];

export function callInWords(call: Pick<Call, "arguments">): string {
  const entries = Object.entries(call.arguments).filter(
    ([, value]) => typeof value === "string" || typeof value === "number",
  );
  const [best] = entries.toSorted(([a], [b]) => rank(a) - rank(b));
  if (!best) return "";
  const more = Object.keys(call.arguments).length - 1;
  return `${best[0]}: ${String(best[1])}${more > 0 ? `, and ${more} more` : ""}`;
}

const rank = (name: string): number => {
  const at = TELLING.indexOf(name);
  return at === -1 ? TELLING.length : at;
};
