/** How far a rollout is, in a few words. */

import type { FleetRollout } from "../api/plans";

export function rolloutWords({ phase, wave, waves }: FleetRollout): string {
  const place = `wave ${wave} of ${waves.length}`;
  if (phase === "wave") return wave ? `${place} goes out` : "about to begin";
  if (phase === "watch") return `${place} is watched`;
  return phase === "rolling_back" ? "going back everywhere" : "";
}
