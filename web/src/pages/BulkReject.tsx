import { type FormEvent, useState } from "react";
import { rejectApproval } from "../api/decisions";
import { Button } from "../parts/Button";
import type { Waits } from "./waiting";

export function toggled(picked: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(picked);
  if (!next.delete(id) && id) next.add(id);
  return next;
}

/** One reason for all that were picked; each is rejected by itself and can be taken back. */
export function BulkReject({ items, onDone }: { items: Waits[]; onDone: () => void }) {
  const [reason, setReason] = useState("");
  if (items.length === 0) return null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!reason.trim()) return;
    for (const item of items) rejectApproval(item.id, item.title, reason.trim());
    setReason("");
    onDone();
  };
  return (
    <form
      onSubmit={submit}
      aria-label="Reject what was picked"
      className="flex flex-wrap items-center gap-2 border-t border-line bg-raised px-4 py-3"
    >
      <label htmlFor="bulk-reason" className="text-sm">
        Reject {items.length}, and say why:
      </label>
      <input
        id="bulk-reason"
        value={reason}
        maxLength={2_000}
        onChange={(event) => setReason(event.target.value)}
        placeholder="Not needed today"
        className="min-h-9 min-w-0 flex-1 basis-52 rounded-lg border border-line-strong bg-surface px-3 text-sm placeholder:text-soft"
      />
      <Button type="submit" look="danger" disabled={!reason.trim()}>
        Reject {items.length}
      </Button>
      <Button look="quiet" onClick={onDone}>
        Cancel
      </Button>
    </form>
  );
}
