import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Conversation } from "../api/chat";
import { answer, api } from "../api/client";
import { Button } from "../parts/Button";
import { Dialog } from "../parts/Dialog";
import { Trouble } from "../parts/states";

/** Deletes a conversation after a second look, and says before what stays. */
export function Delete({ conversation, gone }: { conversation: Conversation; gone: () => void }) {
  const [asking, setAsking] = useState(false);
  return (
    <>
      <Button look="quiet" disabled={conversation.answering} onClick={() => setAsking(true)}>
        Delete
      </Button>
      {asking && (
        <DeleteDialog conversation={conversation} gone={gone} onClose={() => setAsking(false)} />
      )}
    </>
  );
}

function DeleteDialog({
  conversation,
  gone,
  onClose,
}: {
  conversation: Conversation;
  gone: () => void;
  onClose: () => void;
}) {
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: (): Promise<unknown> =>
      answer(
        api.DELETE("/api/chat/{identifier}", { params: { path: { identifier: conversation.id } } }),
      ),
    onSuccess: async () => {
      gone();
      client.removeQueries({ queryKey: ["chat", "one", conversation.id] });
      await client.invalidateQueries({ queryKey: ["chat", "list"] });
    },
  });
  return (
    <Dialog title="Delete this conversation?" onClose={onClose}>
      <p className="text-sm text-soft">{whatGoes(conversation)}</p>
      {remove.error && (
        <div className="mt-3">
          <Trouble error={remove.error} />
        </div>
      )}
      <div className="mt-4 flex justify-end gap-2">
        <Button look="quiet" autoFocus onClick={onClose}>
          Cancel
        </Button>
        <Button look="danger" busy={remove.isPending} onClick={() => remove.mutate()}>
          Delete for good
        </Button>
      </div>
    </Dialog>
  );
}

/** Say what deleting takes away, and honestly what it does not. */
export function whatGoes(conversation: Pick<Conversation, "messages" | "in_ledger">): string {
  const { messages, in_ledger: inLedger } = conversation;
  const gone = `${messages} messages leave this page and the disk, and cannot be brought back. The ledger keeps digests, lengths and the names of called tools; backups that were made before keep all of it.`;
  if (inLedger === 0) return gone;
  return `${gone} An earlier version wrote ${inLedger} of them into the ledger: their text stays in the chain, which nothing rewrites.`;
}
