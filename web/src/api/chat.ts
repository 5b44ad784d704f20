/** Conversations with the persona: the kept ones, and the one that is being spoken now. */

import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "./client";
import { texts } from "./events";
import { Problem } from "./problem";
import type { components } from "./schema";
import { keep, proof } from "./session";

export type Message = components["schemas"]["ChatMessage"];
export type Call = components["schemas"]["ChatCall"];
export type Conversation = components["schemas"]["ConversationDetails"];

export const chatsQuery = queryOptions({
  queryKey: ["chat", "list"],
  queryFn: () => answer(api.GET("/api/chat")),
});
export const chatQuery = (identifier: string, limit = 50) =>
  queryOptions({
    queryKey: ["chat", "one", identifier, limit],
    placeholderData: (before) => (before?.id === identifier ? before : undefined),
    queryFn: () =>
      answer(
        api.GET("/api/chat/{identifier}", { params: { path: { identifier }, query: { limit } } }),
      ),
  });

export type Heard = { kind: string; data: Record<string, unknown> };

/** Read one event of an answer; a sign of life is nothing. */
export function heard(block: string): Heard | null {
  const kind = /^event: (\w+)$/m.exec(block)?.[1];
  const data = /^data: (.*)$/m.exec(block)?.[1];
  if (!kind || !data) return null;
  try {
    return { kind, data: JSON.parse(data) as Record<string, unknown> };
  } catch {
    return null;
  }
}

/** Say something and hear the answer as it comes. Aborting cuts the answer off. */
export async function* speak(
  text: string,
  conversation: string | null,
  signal: AbortSignal,
): AsyncGenerator<Heard> {
  const said = await fetch("/api/chat", {
    method: "POST",
    headers: { ...proof(), "Content-Type": "application/json", Accept: "text/event-stream" },
    body: JSON.stringify({ text, conversation }),
    signal,
  });
  if (!said.ok || !said.body) {
    if (said.status === 401) keep(null);
    throw new Problem(said.status, (await said.json().catch(() => ({}))) as never);
  }
  let rest = "";
  for await (const chunk of texts(said.body)) {
    const blocks = (rest + chunk).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = heard(block);
      if (event) yield event;
    }
  }
}
