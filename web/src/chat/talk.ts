/**
 * The answer that is being spoken in this tab. It is kept outside the page, so that a look at an
 * approval in between does not cut it off.
 */

import { type Call, type Heard, speak } from "../api/chat";
import { Problem } from "../api/problem";
import { queryClient } from "../api/queries";

export type Spoken = {
  conversation: string | null;
  /** The record of the question, once it is kept. */
  asked: number | null;
  question: string;
  text: string;
  calls: (Omit<Call, "outcome"> & { outcome: Call["outcome"] | "running" })[];
  suggestion: string | null;
};

export class Talk {
  spoken: Spoken | null = null;
  trouble: Problem | null = null;
  private running: AbortController | null = null;
  private readonly watchers = new Set<() => void>();

  watch = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  /** Say something; `began` hears which conversation it belongs to. */
  async say(text: string, conversation: string | null, began: (id: string) => void): Promise<void> {
    if (this.running) return;
    const running = new AbortController();
    this.running = running;
    this.trouble = null;
    this.become({
      conversation,
      asked: null,
      question: text,
      text: "",
      calls: [],
      suggestion: null,
    });
    try {
      for await (const each of speak(text, conversation, running.signal)) {
        if (each.kind === "started") began(String(each.data.conversation));
        this.hear(each);
      }
    } catch (error) {
      if (!running.signal.aborted) {
        this.trouble = error instanceof Problem ? error : Problem.unreachable();
      }
    }
    await queryClient.invalidateQueries({ queryKey: ["chat"] });
    this.running = null;
    this.become(null);
  }

  cut = (): void => this.running?.abort();

  hear({ kind, data }: Heard): void {
    const now = this.spoken;
    if (kind === "problem") this.trouble = new Problem(500, data);
    if (now) this.become(after(now, kind, data));
  }

  private become(spoken: Spoken | null): void {
    this.spoken = spoken;
    for (const watcher of this.watchers) watcher();
  }
}

/** Give what was heard so far, with one more event. */
export function after(now: Spoken, kind: string, data: Record<string, unknown>): Spoken {
  switch (kind) {
    case "started":
      return { ...now, conversation: String(data.conversation), asked: Number(data.sequence) };
    case "text":
      return { ...now, text: now.text + String(data.text) };
    case "call":
      return { ...now, calls: [...now.calls, { ...(data as Call), outcome: "running" }] };
    case "result":
      return {
        ...now,
        calls: now.calls.map((call) => (call.number === data.number ? (data as Call) : call)),
      };
    case "suggestion":
      return { ...now, suggestion: String(data.description) };
    default:
      return now;
  }
}

export const talk = new Talk();
