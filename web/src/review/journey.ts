/**
 * The way of an approved change into service, told from its records: approved, merged, built,
 * switched to, watched, live; or where it ended instead, and why.
 */

import type { Change } from "../api/changes";
import type { LedgerRecord } from "../api/model";

export type Progress = "done" | "now" | "todo" | "failed";
export type Step = { name: string; progress: Progress; words: string; record?: LedgerRecord };
export type Ending = "under way" | "live" | "merged" | "not deployed" | "failed" | "taken back";
export type Journey = { steps: Step[]; ending: Ending };

const HEALTHY = "It stayed healthy for its whole watch";
const ON_ITS_WAY = new Set(["granted", "approved", "executed", "rolled_back"]);

export const isOnItsWay = (change: Change): boolean => ON_ITS_WAY.has(change.state);

/** What a release brought, in the words of its change; nothing where that is not known. */
export type Naming = (release: string) => string;

export function journey(
  change: Change,
  records: LedgerRecord[],
  naming: Naming = () => "",
): Journey {
  const last = (type: string) => records.findLast((record) => record.type === type);
  const merged = upToNow(merging(change, last));
  if (!last("code_modification_executed")) return { steps: merged, ending: "under way" };
  const request = records.findLast(
    ({ type, data }) =>
      type === "deployment_requested" && data.commit === change.commit && data.kind === "deploy",
  );
  const found = request
    ? deploying(
        records.filter(({ data }) => data.deployment === request.data.deployment),
        naming,
      )
    : undeployed(change, last("deployment_declined"));
  const now = followService(found, records, request?.sequence ?? 0, naming);
  return { ...now, steps: [...merged, ...now.steps] };
}

/** What the live release did to it after that: taken back by hand, or in service again. */
function followService(
  journey: Journey,
  records: LedgerRecord[],
  since: number,
  naming: Naming,
): Journey {
  const moved = records.findLast(
    ({ type, sequence }) =>
      sequence > since && (type === "code_modification_rolled_back" || type === "change_restored"),
  );
  if (!moved) return journey;
  if (moved.type === "change_restored") {
    const words = `${nameOf(moved, naming)} has it, and serves.`;
    const back: Step = { name: "In service again", progress: "done", words, record: moved };
    return { steps: [...journey.steps, back], ending: "live" };
  }
  if (journey.ending === "taken back") return journey;
  const words = `It serves no more: ${String(moved.data.reason)}.`;
  const out: Step = { name: "Taken back", progress: "failed", words, record: moved };
  return { steps: [...journey.steps.map(outOfService), out], ending: "taken back" };
}

/** What was live is not live any more; that it was healthy stays so. */
const outOfService = (each: Step): Step =>
  each.words.startsWith(HEALTHY) ? { ...each, words: `${HEALTHY}.` } : each;

type Find = (type: string) => LedgerRecord | undefined;

/** A person approves a change, or what the operator signed in advance does. */
function byWhom(approved: LedgerRecord | undefined): string {
  const terms = (approved?.data.terms ?? {}) as Record<string, unknown>;
  if (terms.permission) return `The standing permission ${terms.permission} covers it.`;
  if (terms.policy) return "The signed configuration lets changes of these paths in.";
  return "A person approved exactly this commit with this evidence.";
}

function merging(change: Change, last: Find): Step[] {
  const approved = last("code_modification_approved");
  const executed = last("code_modification_executed");
  const where = `${change.target_branch} at ${change.commit.slice(0, 12)}`;
  return [
    step("Approved", approved ?? last("approval_granted"), {
      done: byWhom(approved),
      now: "The approval is being checked.",
    }),
    step("Merged", executed, {
      done: `It is part of ${where}.`,
      now: "Signature, evidence and base are checked once more, then the branch moves.",
    }),
  ];
}

function undeployed(change: Change, declined: LedgerRecord | undefined): Journey {
  if (declined) {
    const words = `It was not deployed: ${String(declined.data.reason)}`;
    return {
      steps: [{ name: "Deployed", progress: "failed", words, record: declined }],
      ending: "not deployed",
    };
  }
  if (change.decision.terms?.deploy) {
    const words = "A deployment is about to begin.";
    return { steps: [{ name: "Deployed", progress: "now", words }], ending: "under way" };
  }
  const words = "It was approved without the deploy: the next deployment puts it into service.";
  return { steps: [{ name: "Merged only", progress: "todo", words }], ending: "merged" };
}

/** Tell one deployment; the first step without a record is where it is now. */
function deploying(own: LedgerRecord[], naming: Naming): Journey {
  const last = (type: string) => own.findLast((record) => record.type === type);
  const built = last("release_built");
  const switched = last("release_switched");
  const settled = last("deployment_settled");
  const failed = last("deployment_failed");
  const steps = [
    step("Built", built, {
      done: `A release of ${String(built?.data.files ?? "its")} files was built and sealed.`,
      now: "A release is being built from it.",
    }),
    step("In service", switched, {
      done: "It got healthy beside the one before; new connections go to it.",
      now: "It is started beside what serves, and asked for its health.",
    }),
    step("Watched", settled, {
      done: `${HEALTHY}: it is live.`,
      now: "It serves, and its health is watched.",
    }),
  ];
  if (failed) return failing(steps, failed, last, naming);
  return { steps: upToNow(steps), ending: settled ? "live" : "under way" };
}

function failing(steps: Step[], failed: LedgerRecord, last: Find, naming: Naming): Journey {
  const done = steps.filter((each) => each.progress === "done");
  const what: Step = {
    name: "Failed",
    progress: "failed",
    words: `It failed: ${String(failed.data.reason)}`,
    record: failed,
  };
  if (!failed.data.rolls_back) return { steps: [...done, what], ending: "failed" };
  const back = last("deployment_rolled_back");
  const lost = last("rollback_failed");
  const taken = step("Taken back", back, {
    done: `${nameOf(back, naming)} serves again; nobody had to act.`,
    now: "The last good release is being brought back.",
  });
  const stuck: Step = {
    name: "Taken back",
    progress: "failed",
    words: "No good release could be brought back. Look at the releases now.",
    ...(lost ? { record: lost } : {}),
  };
  const ending = back ? "taken back" : lost ? "failed" : "under way";
  return { steps: [...done, what, lost ? stuck : taken], ending };
}

function nameOf(back: LedgerRecord | undefined, naming: Naming): string {
  const release = String(back?.data.release ?? "The release before");
  const about = naming(release);
  return about ? `“${about}” (${release})` : release;
}

function step(
  name: string,
  record: LedgerRecord | undefined,
  words: { done: string; now: string },
): Step {
  return record
    ? { name, progress: "done", words: words.done, record }
    : { name, progress: "now", words: words.now };
}

/** Only the first of the steps to come is under way; the ones behind it have not begun. */
function upToNow(steps: Step[]): Step[] {
  const at = steps.findIndex((each) => each.progress === "now");
  return steps.map((each, index) =>
    at !== -1 && index > at ? { ...each, progress: "todo", words: "" } : each,
  );
}
