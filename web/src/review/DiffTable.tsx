import { memo, type ReactNode, useEffect, useMemo, useState } from "react";
import { Pieces } from "../parts/Untrusted";
import { type Expanded, type Gap, offers, type Range } from "./context";
import type { Highlighter, Run } from "./highlight";
import { type FileDiff, type Line, paired, type Side } from "./parse";

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
  hunks,
  gaps,
  mode,
  highlight,
  onLine,
  onMore,
  beneath,
}: {
  file: FileDiff;
  hunks: Expanded["hunks"];
  gaps: Expanded["gaps"];
  mode: Mode;
  highlight: Highlighter | null;
  /** Nothing is said about lines where this is left out. */
  onLine?: ((place: Place) => void) | undefined;
  onMore?: ((range: Range) => void) | undefined;
  beneath: (place: Place) => ReactNode;
}) {
  const rows = useMemo(() => layOut({ hunks, gaps }, mode), [hunks, gaps, mode]);
  const colours = useMemo(() => coloured(file.path, hunks, highlight), [file, hunks, highlight]);
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
                onMore={onMore}
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

type Between = { header: string; gap: Gap | null; above: boolean; below: boolean };
type Row = { key: string; between?: Between; left: Line | null; right: Line | null };

/** Lay hunks and gaps out as rows; the key of a row stays when lines appear around it. */
function layOut({ hunks, gaps }: Expanded, mode: Mode): Row[] {
  const rows = hunks.flatMap((hunk, at) => {
    const gap = gaps[at] ?? null;
    const pairs =
      mode === "split"
        ? paired(hunk.lines)
        : hunk.lines.map((line) => ({
            left: line.kind === "+" ? null : line,
            right: line.kind === "-" ? null : line,
          }));
    const lines = pairs.map((pair, index) => ({ key: keyOf(pair, at, index), ...pair }));
    if (at > 0 && gap === null) return lines;
    return [
      between(`hunk ${at}`, { header: hunk.header, gap, above: at > 0, below: true }),
      ...lines,
    ];
  });
  const last = gaps[hunks.length] ?? null;
  if (last && hunks.length) {
    rows.push(between("end", { header: "", gap: last, above: true, below: false }));
  }
  return rows;
}

const between = (key: string, found: Between): Row => ({
  key,
  between: found,
  left: null,
  right: null,
});

function keyOf({ left, right }: Omit<Row, "key">, at: number, index: number): string {
  const [before, after] = [left?.old ?? null, right?.new ?? null];
  return before === null && after === null ? `${at}/${index}` : `${before ?? ""}:${after ?? ""}`;
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
function coloured(path: string, hunks: Expanded["hunks"], highlight: Highlighter | null): Colours {
  const colours: Colours = new Map();
  if (!highlight) return colours;
  for (const hunk of hunks) {
    for (const skipped of ["+", "-"]) {
      const side = hunk.lines.filter((line) => line.kind !== skipped && line.kind !== "\\");
      const runs = highlight(path, side.map((line) => line.text).join("\n"));
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
  onMore,
  beneath,
}: {
  row: Row;
  mode: Mode;
  colours: Colours;
  onLine: ((place: Place) => void) | undefined;
  onMore: ((range: Range) => void) | undefined;
  beneath: (place: Place) => ReactNode;
}) {
  const columns = mode === "split" ? 4 : 3;
  if (row.between) return <BetweenRow {...row.between} columns={columns} onMore={onMore} />;
  const { left, right } = row;
  const under = [
    left?.old != null ? beneath({ side: "old", line: left.old }) : null,
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
          <td colSpan={columns}>{node}</td>
        </tr>
      ))}
    </>
  );
});

/** What stands between two hunks: where the next begins, and a way to see what is hidden. */
function BetweenRow({
  header,
  gap,
  above,
  below,
  columns,
  onMore,
}: Between & { columns: number; onMore: ((range: Range) => void) | undefined }) {
  return (
    <tr className="hunk">
      <td colSpan={columns}>
        {gap &&
          onMore &&
          offers(gap, { above, below }).map(([words, range]) => (
            <button key={words} type="button" onClick={() => onMore(range)}>
              {words}
            </button>
          ))}
        <Pieces text={header} />
      </td>
    </tr>
  );
}

function LineNumber({
  line,
  side,
  onLine,
}: {
  line: Line | null;
  side: Side;
  onLine: ((place: Place) => void) | undefined;
}) {
  const number = line ? line[side] : null;
  if (number === null) return <td className="number" />;
  const which = side === "old" ? "before" : "after";
  if (!onLine) {
    return (
      <td className="number pr-2" data-kind={line?.kind}>
        {number}
      </td>
    );
  }
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
