import { useQuery } from "@tanstack/react-query";
import type { Change } from "../api/changes";
import { decisionFactsQuery } from "../api/queries";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";
import { Again } from "./Running";

const UNDECIDED = new Set(["gathering_evidence", "awaiting_approval"]);

/** What became of the base since the change was proposed, before somebody signs and after. */
export function Moved({ change }: { change: Change }) {
  const { data: decision } = useQuery(decisionFactsQuery(change.id));
  if (!decision || !UNDECIDED.has(change.state)) return null;
  const { behind, carried_over: carried } = decision;
  const branch = <Untrusted text={change.target_branch} max={60} className="font-mono" />;
  if (behind > 0) {
    return (
      <Band tone="warn">
        <p>
          <strong className="font-semibold">
            {behind} {behind === 1 ? "commit" : "commits"} behind {branch}.
          </strong>{" "}
          A signature now is void: the change is carried over, its tests run again, and you are
          asked to sign again.
        </p>
        {change.state === "awaiting_approval" && (
          <Again change={change}>Carry it over and test it now</Again>
        )}
      </Band>
    );
  }
  if (!carried) return null;
  const waits = change.state === "awaiting_approval";
  return (
    <Band tone={carried.signed_before ? "warn" : "plain"}>
      <p>
        <strong className="font-semibold">
          {branch} moved{carried.signed_before && " while you signed"}.
        </strong>{" "}
        The change was carried over to {carried.onto.slice(0, 12)} <Time at={carried.at} />;{" "}
        {waits ? "its tests ran again" : "its tests run again"}.{" "}
        {carried.signed_before && "What was signed before counts no more. "}
        {waits ? "Sign this round to merge it." : "You are asked again when they are done."}
      </p>
    </Band>
  );
}

function Band({ tone, children }: { tone: "warn" | "plain"; children: React.ReactNode }) {
  const look = tone === "warn" ? "border-warn/40 bg-warn-wash" : "border-line bg-surface";
  return (
    <section
      aria-label="The base of this change"
      role="status"
      className={`mb-4 rounded-card border px-4 py-3 text-sm ${look}`}
    >
      {children}
    </section>
  );
}
