/** The story of a change as one graph: from the desire it came from to what became of it. */

import type { Change } from "../api/changes";
import type { GoalTask } from "../api/goals";
import { nameOf, toneOfTask } from "../goals/words";
import type { Tone } from "../parts/Badge";
import type { FlowNode } from "../parts/Flow";
import type { Ending, Journey, Progress } from "./journey";

const TONES: Record<Progress, Tone> = { done: "good", now: "accent", todo: "plain", failed: "bad" };
const REVIEW: Record<string, [Tone, string]> = {
  gathering_evidence: ["accent", "evidence is gathered"],
  awaiting_approval: ["accent", "waits for you"],
  changes_requested: ["warn", "sent back"],
  tests_failed: ["bad", "tests failed, sent back"],
  conflict: ["warn", "does not fit the branch"],
  rejected: ["plain", "rejected"],
  superseded: ["plain", "replaced by a revision"],
};

export function graphOf(change: Change, journey: Journey, tasks: GoalTask[] = []): FlowNode[] {
  return [
    ...origin(change),
    ...taskNodes(tasks.slice(0, placeOf(change.id, tasks))),
    ...changeNodes(change, journey),
  ];
}

/** What a change went through itself, from the proposal to the rollback. */
export const changeNodes = (change: Change, journey: Journey): FlowNode[] => [
  proposal(change),
  ...review(change),
  ...way(change, journey),
];

const MOST_TASKS = 8;

/** The tasks of a goal; where there are many, the last of them and how many came before. */
export function taskNodes(tasks: GoalTask[]): FlowNode[] {
  const shown = tasks.slice(-MOST_TASKS);
  const earlier = tasks.length - shown.length;
  return [
    ...(earlier > 0 ? [node("tasks", `${earlier} before these`, "plain", null)] : []),
    ...shown.map((task) => ({
      ...node("task", `${nameOf(task)}: ${task.state}`, toneOfTask(task.state), story(task.id)),
      key: task.id,
    })),
  ];
}

/** Up to which task a goal had come when one of them brought a change about. */
function placeOf(change: string, tasks: GoalTask[]): number {
  const at = tasks.findIndex((task) => task.outputs.change === change || task.waits_on === change);
  return at < 0 ? 0 : at + 1;
}

function origin(change: Change): FlowNode[] {
  const { desire, goal_text: goal, plan, supersedes } = change;
  return [
    ...(desire ? [node("desire", "wanted", "good", `/desires/${desire}`)] : []),
    ...(goal ? [node("goal", goal, "good", change.goal ? `/goals/${change.goal}` : null)] : []),
    ...(plan ? [node("plan", plan.goals.join("; "), "good", `/plans/${plan.id}`)] : []),
    ...(supersedes ? [node("first try", "replaced", "plain", `/changes/${supersedes}`)] : []),
  ];
}

const proposal = (change: Change): FlowNode =>
  node("change", sizeOf(change), "good", story(change.id));

const sizeOf = ({ diff }: Change): string =>
  `${diff.files} ${diff.files === 1 ? "file" : "files"}, +${diff.added} −${diff.removed}`;

function review(change: Change): FlowNode[] {
  const verdict = change.evidence.verdict;
  const tested = verdict
    ? [node("tests", verdict.replaceAll("_", " "), verdict === "passed" ? "good" : "bad", null)]
    : [];
  const [tone, text] = REVIEW[change.state] ?? [];
  return [...tested, ...(tone && text ? [node("review", text, tone, null)] : [])];
}

function way(change: Change, { steps, ending }: Journey): FlowNode[] {
  if (REVIEW[change.state]) return [];
  return steps.map(({ name, progress, record }) => ({
    ...node(kindOf(name), "", TONES[progress], record ? story(record.correlation) : null),
    text: outcome(name, progress, ending),
    back: name === "Taken back",
  }));
}

/** What a way back undoes; the branch still holds the change, and its release is kept. */
const SERVING = new Set(["In service", "Watched"]);

const kindOf = (name: string): string => (name === "Taken back" ? "rollback" : name.toLowerCase());

function outcome(name: string, progress: Progress, ending: Ending): string {
  const isBack = name === "Taken back";
  if (progress === "failed") return isBack && ending === "taken back" ? "serves no more" : "failed";
  if (progress === "todo") return "to come";
  if (progress === "now") return "under way";
  if (isBack) return "what was before serves";
  return ending === "taken back" && SERVING.has(name) ? "done, then undone" : "done";
}

const story = (id: string): string => `/ledger/story/${id}`;

export const node = (kind: string, text: string, tone: Tone, to: string | null): FlowNode => ({
  ...{ key: kind, kind, text, tone, to },
  back: false,
});
