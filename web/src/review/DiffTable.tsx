import { memo, type ReactNode, useEffect, useMemo, useState } from "react";
import { Pieces } from "../parts/Untrusted";
import type { Highlighter, Run } from "./highlight";
import { type FileDiff, type Hunk, type Line, paired, type Side } from "./parse";

export type Mode = "split" | "unified";
export type Place = { side: Side; line: number };
type Colours = Map<Line, Run[]>;

const CHUNK = 100;
const PER_FRAME = 400;

/**
 * One file's diff as tables of a hundred lines. The browser skips the ones out of sight, and they
 * are added a few hundred lines a frame, so that thousands of them freeze nothing.
 */
export const DiffTable = memo(function DiffTable({
  file,
  mode,
  highlight,
  onLine,
  beneath,
}: {
  file: FileDiff;
  mode: Mode;
  highlight: Highlighter | null;
  onLine: (place: Place) => void;
  beneath: (place: Place) => ReactNode;
}) {
  const rows = useMemo(() => layOut(file, mode), [file, mode]);
  const colours = useMemo(() => coloured(file, highlight), [file, highlight]);
  const shown = useGrowing(rows.length);
  const chunks: Row[][] = [];
  for (let start = 0; start < shown; start += CHUNK) {
    chunks.push(rows.slice(start, Math.min(start + CHUNK, shown)));
  }
  return (
    <div className="diff overflow-x-auto">
      {file.notes.map((note) => (
        <p key={note} className="px-3 py-1 text-sm text-soft">
          <Pieces text={note} />
        </p>
      ))}
      {chunks.map((chunk, index) => (
        <table
          // biome-ignore lint/suspicious/noArrayIndexKey: chunks never move
          key={index}
          aria-label={`Lines of the diff, part ${index + 1}`}
          className={mode}
        >
          <colgroup>
            <col className="number" />
            <col className={mode === "split" ? "" : "number"} />
            <col className={mode === "split" ? "number" : ""} />
            {mode === "split" && <col />}
          </colgroup>
          <tbody>
            {chunk.map((row) => (
              <RowView
                key={row.key}
                row={row}
                mode={mode}
                colours={colours}
                onLine={onLine}
                beneath={beneath}
              />
            ))}
          </tbody>
        </table>
      ))}
      {shown < rows.length && (
        <p role="status" className="px-3 py-1 text-sm text-soft">
          {rows.length - shown} more lines…
        </p>
      )}
    </div>
  );
});

type Row = { key: number; header?: string; left: Line | null; right: Line | null };

function layOut(file: FileDiff, mode: Mode): Row[] {
  let key = 0;
  return file.hunks.flatMap((hunk: Hunk) => [
    { key: key++, header: hunk.header, left: null, right: null },
    ...(mode === "split"
      ? paired(hunk.lines).map((pair) => ({ key: key++, ...pair }))
      : hunk.lines.map((line) => ({
          key: key++,
          left: line.kind === "+" ? null : line,
          right: line.kind === "-" ? null : line,
        }))),
  ]);
}

/** Show more and more rows, a frame at a time. */
function useGrowing(total: number): number {
  const [shown, setShown] = useState(PER_FRAME);
  useEffect(() => {
    if (shown >= total) return undefined;
    const frame = requestAnimationFrame(() => setShown(shown + PER_FRAME));
    return () => cancelAnimationFrame(frame);
  }, [shown, total]);
  return Math.min(shown, total);
}

/** Colour each side of each hunk as a text of its own. */
function coloured(file: FileDiff, highlight: Highlighter | null): Colours {
  const colours: Colours = new Map();
  if (!highlight) return colours;
  for (const hunk of file.hunks) {
    for (const skipped of ["+", "-"]) {
      const side = hunk.lines.filter((line) => line.kind !== skipped && line.kind !== "\\");
      const runs = highlight(file.path, side.map((line) => line.text).join("\n"));
      for (const [index, line] of side.entries()) if (runs?.[index]) colours.set(line, runs[index]);
    }
  }
  return colours;
}

const RowView = memo(function RowView({
  row,
  mode,
  colours,
  onLine,
  beneath,
}: {
  row: Row;
  mode: Mode;
  colours: Colours;
  onLine: (place: Place) => void;
  beneath: (place: Place) => ReactNode;
}) {
  if (row.header !== undefined) {
    return (
      <tr className="hunk">
        <td colSpan={4}>
          <Pieces text={row.header} />
        </td>
      </tr>
    );
  }
  const { left, right } = row;
  const under = [
    left?.old != null && left.kind === "-" ? beneath({ side: "old", line: left.old }) : null,
    right?.new != null ? beneath({ side: "new", line: right.new }) : null,
  ].filter(Boolean);
  return (
    <>
      {mode === "split" ? (
        <tr>
          <LineNumber line={left} side="old" onLine={onLine} />
          <Code line={left} colours={colours} />
          <LineNumber line={right} side="new" onLine={onLine} />
          <Code line={right} colours={colours} />
        </tr>
      ) : (
        <tr>
          <LineNumber line={left} side="old" onLine={onLine} />
          <LineNumber line={right} side="new" onLine={onLine} />
          <Code line={right ?? left} colours={colours} />
        </tr>
      )}
      {under.map((node, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: at most one a side
        <tr key={index} className="under">
          <td colSpan={4}>{node}</td>
        </tr>
      ))}
    </>
  );
});

function LineNumber({
  line,
  side,
  onLine,
}: {
  line: Line | null;
  side: Side;
  onLine: (place: Place) => void;
}) {
  const number = line ? line[side] : null;
  if (number === null) return <td className="number" />;
  const which = side === "old" ? "before" : "after";
  return (
    <td className="number" data-kind={line?.kind}>
      <button
        type="button"
        tabIndex={-1}
        data-line={`${side}:${number}`}
        aria-label={`Comment on line ${number} ${which}`}
        onClick={() => onLine({ side, line: number })}
      >
        {number}
      </button>
    </td>
  );
}

function Code({ line, colours }: { line: Line | null; colours: Colours }) {
  if (!line) return <td className="empty" />;
  const runs = colours.get(line);
  return (
    <td className="code" data-kind={line.kind}>
      <span className="sign">{line.kind === "+" || line.kind === "-" ? line.kind : " "}</span>
      {runs
        ? runs.map((run, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the runs of a line never move
            <span key={index} className={run.kind}>
              <Pieces text={run.text} />
            </span>
          ))
        : null}
      {!runs && <Pieces text={line.kind === "\\" ? `\\${line.text}` : line.text} />}
    </td>
  );
}
