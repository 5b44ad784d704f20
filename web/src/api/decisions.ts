/** The one outbox of this tab, and how each kind of decision in it is sent. */

import { forgetRemarks, type Remark } from "../review/drafts";
import { announce } from "../shell/announce";
import type { Change } from "./changes";
import { answer, api } from "./client";
import { feed } from "./events";
import { type Letter, Outbox } from "./outbox";
import type { Problem } from "./problem";
import { queryClient } from "./queries";

export const outbox = new Outbox({
  send,
  now: () => Date.now(),
  later: (run, milliseconds) => void setTimeout(run, milliseconds),
  storage: globalThis.sessionStorage,
  sent: settled,
});
feed.onLink(() => {
  if (feed.link === "live") outbox.hurry();
});

/** Reject a request, with the reason that the agent reads. */
export function rejectApproval(identifier: string, title: string, reason: string): void {
  const words = `Reject “${title.slice(0, 80)}”`;
  outbox.post({
    ...{ key: `reject ${identifier}`, words, identifier },
    kind: "reject approval",
    body: { reason },
  });
}

/** Turn a change down or send it back, with what was remarked on its lines. */
export function decideChange(
  change: Change,
  verdict: "reject" | "revise",
  { text, remarks }: { text: string; remarks: Remark[] },
): void {
  const seen = { remarks, commit: change.commit };
  const rejects = verdict === "reject";
  outbox.post({
    key: `decide ${change.id}`,
    words: `${rejects ? "Reject" : "Request changes to"} “${change.reason.slice(0, 80)}”`,
    kind: rejects ? "reject change" : "request changes",
    identifier: change.id,
    body: rejects ? { ...seen, reason: text } : { ...seen, text, request_changes: true },
  });
}

function send({ kind, identifier, body }: Letter): Promise<unknown> {
  const path = { params: { path: { identifier } } };
  if (kind === "reject approval")
    return answer(api.POST("/api/approvals/{identifier}/reject", { ...path, body: body as never }));
  if (kind === "reject change")
    return answer(api.POST("/api/changes/{identifier}/reject", { ...path, body: body as never }));
  return answer(api.POST("/api/changes/{identifier}/comments", { ...path, body: body as never }));
}

function settled(letter: Letter, problem?: Problem): void {
  if (!problem && typeof letter.body.commit === "string") forgetRemarks(letter.body.commit);
  announce(problem ? `${letter.words}: ${problem.detail}` : `${letter.words}: done.`);
  void queryClient.invalidateQueries({ queryKey: ["approvals"] });
  void queryClient.invalidateQueries({ queryKey: ["changes"] });
}
