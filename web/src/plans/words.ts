import type { Blocked, PlanBrief } from "../api/plans";

const OVER = new Set(["rejected", "plan_failed", "aborted", "completed"]);
const WORKING = new Set(["approved", "running", "checkpoint_completed", "draft_pending"]);

export function groupOf(state: string, asks = false): "Waiting for you" | "Under way" | "Over" {
  if (OVER.has(state)) return "Over";
  return WORKING.has(state) && !asks ? "Under way" : "Waiting for you";
}

export function titleOf(plan: PlanBrief): string {
  return plan.goals[0] ?? plan.description;
}

const BLOCKS: Record<string, string> = {
  blocked_on_permission: "It wants something that it was not granted.",
  blocked_on_destructive: "The next step takes something away for good, and waits to be confirmed.",
  blocked_on_budget: "The steps of this checkpoint are used up.",
  blocked_on_llm: "It cannot go on without its model.",
  paused: "It is paused.",
  draft_pending: "It asks you something before it can be drafted.",
};

export const blockInWords = (state: string, asks = true): string | undefined =>
  state === "draft_pending" && !asks ? undefined : BLOCKS[state];

/** An edit as the server takes it: the plan's document, one place at a time. */
export type Edit = { op: "set" | "add" | "remove"; path: string; value?: unknown };

export const withoutGrant = (kind: string, value: string): Edit => ({
  op: "remove",
  path: `manifest.${kind}`,
  value,
});

export const withoutCheckpoint = (checkpoint: number): Edit => ({
  op: "remove",
  path: `checkpoints.${checkpoint}`,
});

export const withBudget = (checkpoint: number, steps: number): Edit => ({
  op: "set",
  path: `checkpoints.${checkpoint}.step_budget`,
  value: steps,
});

export type Meaning = { answer: string; means: string };

type Wanted = { what: string; exactly: string };

/** What a step was about to do, in words, and the part of it that is to be read exactly. */
export function wantedInWords(block: Blocked): Wanted | null {
  const action = block.action ?? (block.tool ? { ...block, kind: "tool" } : null);
  if (!action) return null;
  if (action.kind === "code") return { what: "write code:", exactly: action.text ?? "" };
  if (action.kind === "message") return { what: "say:", exactly: action.text ?? "" };
  if (action.kind === "done") return { what: "end the checkpoint:", exactly: action.output ?? "" };
  return callInWords(action.tool ?? "something", (action.arguments ?? {}) as Arguments);
}

type Arguments = Record<string, unknown>;

function callInWords(tool: string, given: Arguments): Wanted {
  if (tool === "run_in_sandbox" && Array.isArray(given.command)) {
    return { what: "run a command in its sandbox:", exactly: given.command.map(String).join(" ") };
  }
  const [only, ...more] = Object.values(given);
  const plain = more.length === 0 && typeof only === "string";
  return { what: `call ${tool} with:`, exactly: plain ? only : JSON.stringify(given, null, 1) };
}

/** What a step ended with, for reading: of a command what it printed, of others their answer. */
export function resultInWords(result: string): string {
  const [first = "", ...rest] = result.startsWith("{") ? ["", result] : result.split("\n");
  const { reason, stdout, stderr } = readable(rest.join("\n"));
  if (typeof reason !== "string") return result;
  return [first, reason, stdout, stderr].filter(Boolean).join("\n").trim();
}

function readable(text: string): Record<string, unknown> {
  try {
    return (JSON.parse(text) ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** What each answer to a block does; only those that can be given in the state. */
export function answersTo(state: string, block: Blocked): Meaning[] {
  const abort = { answer: "Abort", means: "the plan ends for good; what it did stays." };
  if (state === "blocked_on_permission") {
    const again = block.ran ? "the step runs once more" : "the step runs";
    return [
      {
        answer: "Grant once",
        means: `${again}, with exactly this and nothing else. The next step that wants it asks again.`,
      },
      {
        answer: "Grant to this plan",
        means: `${again}, and every later step of this plan may do the same until the plan ends. Other plans may not.`,
      },
      {
        answer: "Skip",
        means: block.ran
          ? "it stays refused. The plan goes on with what came of the first try, and does not ask for it again."
          : "it is not done. The model is told so, and goes on without it.",
      },
      abort,
    ];
  }
  if (state === "blocked_on_destructive") {
    return [
      { answer: "Confirm", means: "exactly this is done, this once. It cannot be undone." },
      { answer: "Skip", means: "it is not done. The model is told so, and goes on without it." },
      abort,
    ];
  }
  return [];
}
