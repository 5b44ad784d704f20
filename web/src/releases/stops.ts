/** Deployments as points in time, with arrows back where something was taken back. */

import type { Deployment } from "../api/plans";
import type { Tone } from "../parts/Badge";

export type Stop = {
  deployment: Deployment;
  release: string;
  tone: Tone;
  words: string;
  label: string;
};
export type Back = { from: number; to: number };
export type Timeline = { stops: Stop[]; backs: Back[] };

const MOST = 12;
const ENDINGS: Record<string, [Tone, string]> = {
  settled: ["good", "proven"],
  switched: ["accent", "being watched"],
  requested: ["accent", "being built"],
  built: ["accent", "being started"],
  rolling_out: ["accent", "going out in waves"],
  rolling_back: ["warn", "being taken back"],
  rolled_back: ["bad", "failed, taken back"],
  rollback_failed: ["bad", "failed, and nothing could be brought back"],
  failed: ["bad", "failed"],
};

/** Lay out the last deployments, the oldest first; the server gives the newest first. */
export function timelineOf(deployments: readonly Deployment[]): Timeline {
  const shown = deployments.slice(0, MOST).toReversed();
  const stops = shown.map((deployment) => {
    const [tone, words] = ENDINGS[deployment.state] ?? ["plain" as Tone, deployment.state];
    const label = deployment.about || "as it came";
    return { deployment, release: deployment.release, tone, words, label };
  });
  const backs = shown.flatMap(({ kind, state, release, rollback_to: goal }, from) => {
    const target = kind === "rollback" ? release : state === "rolled_back" ? goal : null;
    const to = shown.findLastIndex(
      (each, index) => index < from && each.kind === "deploy" && each.release === target,
    );
    return target && to !== -1 ? [{ from, to }] : [];
  });
  return { stops, backs };
}

/** Cut a label into lines that fit below its point; what is left over ends in an ellipsis. */
export function linesOf(label: string, width = 18, most = 2): string[] {
  const lines: string[] = [];
  for (const word of label.split(/\s+/).filter(Boolean)) {
    const last = lines.at(-1);
    if (last !== undefined && `${last} ${word}`.length <= width) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else lines.push(word);
  }
  const cut = (line: string) => (line.length > width ? `${line.slice(0, width - 1)}…` : line);
  const shown = lines.slice(0, most).map(cut);
  const end = shown.at(-1);
  if (lines.length > most && end && !end.endsWith("…")) {
    shown[shown.length - 1] = `${end.slice(0, width - 1)}…`;
  }
  return shown;
}
