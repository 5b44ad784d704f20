import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { Change } from "../api/changes";
import { answer, api } from "../api/client";
import { decideChange } from "../api/decisions";
import { Button } from "../parts/Button";
import { Dialog } from "../parts/Dialog";
import { Trouble } from "../parts/states";
import { Untrusted } from "../parts/Untrusted";
import { inOrder, placeInWords, useDrafts } from "./drafts";

export type Spoken = "revise" | "reject" | "comment";

const WORDS: Record<Spoken, { title: string; act: string; about: string }> = {
  revise: {
    title: "Request changes",
    act: "Send back",
    about: "The agent reads this and can propose a revision.",
  },
  reject: {
    title: "Reject this change",
    act: "Reject",
    about: "It ends here. The agent reads why.",
  },
  comment: { title: "Comment", act: "Send", about: "Nothing is decided by it." },
};

/** A verdict in words: everything that was remarked on goes out with it. */
export function Say({
  change,
  verdict,
  onClose,
}: {
  change: Change;
  verdict: Spoken;
  onClose: () => void;
}) {
  const client = useQueryClient();
  const [drafts, draft] = useDrafts(change.commit);
  const [general, setGeneral] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  const text = general.trim();
  const remarks = inOrder(drafts.remarks);
  const anything = verdict === "reject" ? text !== "" : text !== "" || remarks.length > 0;
  const send = useMutation({
    mutationFn: async () => {
      const path = { params: { path: { identifier: change.id } } };
      const body = { remarks, commit: change.commit, text, request_changes: false };
      await answer(api.POST("/api/changes/{identifier}/comments", { ...path, body }));
      draft((now) => ({ ...now, remarks: [] }));
    },
    onSuccess: onClose,
    onSettled: () => client.invalidateQueries({ queryKey: ["changes"] }),
  });
  const say = () => {
    if (verdict === "comment") return send.mutate();
    decideChange(change, verdict, { text, remarks });
    return onClose();
  };
  const { title, act, about } = WORDS[verdict];
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (anything) say();
        }}
      >
        <label htmlFor="verdict-text" className="mb-1 block text-sm text-soft">
          {about}
        </label>
        <textarea
          id="verdict-text"
          ref={field}
          autoFocus
          rows={4}
          maxLength={4_000}
          value={general}
          onChange={(event) => setGeneral(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && anything) say();
          }}
          className="block w-full rounded-lg border border-line-strong bg-surface px-3 py-2 text-sm"
        />
        {remarks.length > 0 && (
          <div className="mt-3 max-h-40 overflow-y-auto rounded-lg bg-raised px-3 py-2 text-sm">
            <p className="mb-1 text-soft">Sent with it, each beside its line:</p>
            <ul className="space-y-1">
              {remarks.map((each) => (
                <li key={placeInWords(each)}>
                  <Untrusted text={placeInWords(each)} max={160} className="font-mono text-soft" />{" "}
                  <Untrusted text={each.text} max={400} />
                </li>
              ))}
            </ul>
          </div>
        )}
        {send.error && (
          <div className="mt-3">
            <Trouble error={send.error} />
          </div>
        )}
        <div className="mt-4 flex justify-end gap-2">
          <Button look="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button
            type="submit"
            look={verdict === "reject" ? "danger" : "main"}
            busy={send.isPending}
            disabled={!anything}
          >
            {act}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
