import { type ReactNode, useCallback, useMemo, useState } from "react";
import type { Change, Finding } from "../api/changes";
import { Badge } from "../parts/Badge";
import { Trouble } from "../parts/states";
import { Untrusted } from "../parts/Untrusted";
import { useKeys } from "../shell/keys";
import { DiffTable, type Mode, type Place } from "./DiffTable";
import { type Remark, sameLine, useDrafts } from "./drafts";
import { useHidden } from "./hidden";
import type { Highlighter } from "./highlight";
import { Elsewhere, FindingNote, RemarkBox, type Sent, SentNote } from "./Notes";
import type { FileDiff } from "./parse";

/** One file of a change: its findings, its lines, and what the reviewer says about them. */
export function FileCard({
  id,
  file,
  change,
  mode,
  chosen,
  viewed,
  onViewed,
  highlight,
}: {
  id: string;
  file: FileDiff;
  change: Change;
  mode: Mode;
  chosen: boolean;
  viewed: boolean;
  onViewed: () => void;
  highlight: Highlighter | null;
}) {
  const [drafts] = useDrafts(change.commit);
  const [writing, setWriting] = useState<Place | null>(null);
  const { path } = file;
  const { commit } = change;
  const findings = useMemo(
    () => (change.findings ?? []).filter((each) => each.path === path),
    [change.findings, path],
  );
  const remarks = useMemo(
    () => drafts.remarks.filter((each) => each.path === path),
    [drafts.remarks, path],
  );
  const sent = useMemo(() => sentFor(change, path), [change, path]);
  const hidden = useHidden(change, file);
  const { hunks, gaps, show, showAll } = hidden;
  useKeys(
    chosen && !viewed
      ? [
          {
            keys: "e",
            does: "show what the diff of this file leaves out",
            run: () => void showAll(),
          },
        ]
      : [],
  );
  const onLine = useCallback((place: Place) => setWriting(place), []);
  const onMore = useCallback((range: Parameters<typeof show>[0]) => void show(range), [show]);
  const beneath = useBeneath({ path, commit, findings, remarks, sent, writing, setWriting });
  const visible = useMemo(() => linesOf(hunks), [hunks]);
  const elsewhere = {
    findings: findings.filter((each) => !visible.has(`new:${each.line}`)),
    sent: sent.filter((each) => !visible.has(`${each.side}:${each.line}`)),
  };
  return (
    <section
      id={id}
      tabIndex={-1}
      aria-label={`File ${file.path.slice(0, 200)}`}
      data-chosen={chosen || undefined}
      data-path={path}
      className="scroll-mt-16 overflow-clip rounded-card border border-line bg-surface data-chosen:border-accent"
    >
      <header className="flex flex-wrap items-center gap-x-3 gap-y-1 sticky top-13 z-2 border-b border-line bg-raised px-3 py-2">
        <h2 className="min-w-0 flex-1 font-mono text-sm font-semibold">
          <Untrusted text={file.path} max={200} />
        </h2>
        {file.how !== "modified" && <Badge tone="warn">{file.how}</Badge>}
        {change.protected.includes(file.path) && <Badge tone="bad">protected</Badge>}
        {change.tests_touched.includes(file.path) && <Badge tone="warn">a test</Badge>}
        {change.dependencies.includes(file.path) && <Badge tone="warn">dependencies</Badge>}
        <span className="text-sm tabular-nums">
          <span className="text-good">+{file.added}</span>{" "}
          <span className="text-bad">−{file.removed}</span>
        </span>
        <label className="flex min-h-[24px] items-center gap-1.5 text-sm">
          <input
            type="checkbox"
            checked={viewed}
            onChange={onViewed}
            className="size-4 accent-accent"
          />
          viewed
        </label>
      </header>
      <Elsewhere {...elsewhere} />
      {hidden.error !== null && <Trouble error={hidden.error} />}
      {!viewed && (
        <DiffTable
          file={file}
          hunks={hunks}
          gaps={gaps}
          mode={file.how === "modified" ? mode : "unified"}
          highlight={highlight}
          onLine={onLine}
          onMore={onMore}
          beneath={beneath}
        />
      )}
    </section>
  );
}

/** Bring a line of the diff into sight, or else the file it is in. */
export function goTo(path: string, line: number): void {
  const file = [...document.querySelectorAll<HTMLElement>("section[data-path]")].find(
    (each) => each.dataset.path === path,
  );
  const number = file?.querySelector<HTMLElement>(`[data-line="new:${line}"]`);
  (number ?? file)?.scrollIntoView({ block: "center" });
  number?.focus({ preventScroll: true });
}

function sentFor(change: Change, path: string): Sent[] {
  return change.comments
    .filter((comment) => comment.commit === change.commit)
    .flatMap(({ remarks, by, time }) => remarks.map((each) => ({ ...each, by, time })))
    .filter((each) => each.path === path);
}

function linesOf(hunks: FileDiff["hunks"]): Set<string> {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  return new Set(lines.flatMap((line) => [`old:${line.old}`, `new:${line.new}`]));
}

/** Give what belongs under a line; the same function as long as nothing of it changes. */
function useBeneath({
  path,
  commit,
  findings,
  remarks,
  sent,
  writing,
  setWriting,
}: {
  path: string;
  commit: string;
  findings: Finding[];
  remarks: Remark[];
  sent: Sent[];
  writing: Place | null;
  setWriting: (place: Place | null) => void;
}): (place: Place) => ReactNode {
  return useCallback(
    (place: Place) => {
      const here = findings.filter((each) => place.side === "new" && each.line === place.line);
      const remark = remarks.find((each) => sameLine(each, { path: path, ...place }));
      const open = writing?.side === place.side && writing.line === place.line;
      const said = sent.filter((each) => sameLine(each, { path, ...place }));
      if (here.length + said.length === 0 && !remark && !open) return null;
      return (
        <div className="max-w-3xl space-y-2">
          {here.map((finding) => (
            <FindingNote key={finding.rule + finding.message} finding={finding} />
          ))}
          {said.map((each) => (
            <SentNote key={each.time + each.text} remark={each} />
          ))}
          {(remark || open) && (
            <RemarkBox
              commit={commit}
              place={{ path: path, ...place }}
              remark={remark}
              open={open}
              onOpen={() => setWriting(place)}
              onDone={() => setWriting(null)}
            />
          )}
        </div>
      );
    },
    [path, commit, findings, remarks, sent, writing, setWriting],
  );
}
