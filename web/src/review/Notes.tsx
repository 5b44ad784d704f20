import { useState } from "react";
import type { Comment, Finding, PlacedRemark } from "../api/changes";
import { Badge } from "../parts/Badge";
import { Button } from "../parts/Button";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";
import { placeInWords, type Remark, useDrafts, withRemark } from "./drafts";

/** A remark that was sent, with who said it and when. */
export type Sent = PlacedRemark & Pick<Comment, "by" | "time">;

/** What is about the whole file, or about a line that the diff does not show. */
export function Elsewhere({ findings, sent }: { findings: Finding[]; sent: Sent[] }) {
  if (findings.length + sent.length === 0) return null;
  return (
    <div className="space-y-2 border-b border-line px-3 py-2 text-sm">
      {findings.map((finding) => (
        <FindingNote key={`${finding.line}${finding.rule}${finding.message}`} finding={finding} />
      ))}
      {sent.map((each) => (
        <SentNote key={each.time + placeInWords(each)} remark={each} placed />
      ))}
    </div>
  );
}

export function SentNote({ remark, placed = false }: { remark: Sent; placed?: boolean }) {
  return (
    <div className="rounded-lg border border-line bg-surface px-3 py-2">
      <p className="text-sm text-soft">
        <Untrusted text={remark.by} max={60} /> <Time at={remark.time} />
        {placed && <> on line {remark.line}</>}
      </p>
      <Untrusted text={remark.text} block max={1_000} />
    </div>
  );
}

export function FindingNote({ finding }: { finding: Finding }) {
  const tone = { danger: "bad", warning: "warn" }[finding.severity] ?? "plain";
  return (
    <p className="flex flex-wrap items-baseline gap-2">
      <Badge tone={tone as "bad" | "warn" | "plain"}>{finding.severity}</Badge>
      <Untrusted text={finding.message} max={400} />
      <code className="font-mono text-xs text-soft">{finding.rule}</code>
    </p>
  );
}

export function RemarkBox({
  commit,
  place,
  remark,
  open,
  onOpen,
  onDone,
}: {
  commit: string;
  place: Omit<Remark, "text">;
  remark: Remark | undefined;
  open: boolean;
  onOpen: () => void;
  onDone: () => void;
}) {
  const [, draft] = useDrafts(commit);
  const [text, setText] = useState(remark?.text ?? "");
  const save = (said: string) => {
    draft((now) => withRemark(now, { ...place, text: said }));
    onDone();
  };
  if (remark && !open) {
    return (
      <div className="rounded-lg border border-accent/40 bg-accent-wash px-3 py-2">
        <p className="whitespace-pre-wrap">{remark.text}</p>
        <p className="mt-1 flex gap-2 text-sm text-soft">
          <span>yours, not sent yet</span>
          <button type="button" className="text-accent underline" onClick={onOpen}>
            edit
          </button>
          <button type="button" className="text-accent underline" onClick={() => save("")}>
            remove
          </button>
        </p>
      </div>
    );
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        save(text);
      }}
    >
      <textarea
        aria-label={`Comment on line ${place.line}`}
        // biome-ignore lint/a11y/noAutofocus: it appears because somebody asked to write
        autoFocus
        rows={2}
        maxLength={2_000}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onDone();
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save(text);
        }}
        className="block w-full rounded-lg border border-line-strong bg-surface px-3 py-2 text-sm"
      />
      <div className="mt-1.5 flex gap-2">
        <Button type="submit" look="main">
          Add to the review
        </Button>
        <Button look="quiet" onClick={onDone}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
