import { Badge } from "../parts/Badge";
import { Untrusted } from "../parts/Untrusted";
import { DiffTable } from "./DiffTable";
import type { FileDiff } from "./parse";

const nothing = () => null;

/** A difference to look at, without anything to say about its lines. */
export function PlainDiff({ files }: { files: FileDiff[] }) {
  return (
    <div className="mt-3 space-y-3">
      {files.map((file) => (
        <section
          key={file.path}
          aria-label={`File ${file.path.slice(0, 200)}`}
          className="overflow-clip rounded-card border border-line"
        >
          <header className="sticky top-13 z-1 flex flex-wrap items-center gap-3 border-b border-line bg-raised px-3 py-2">
            <h4 className="min-w-0 flex-1 font-mono text-sm font-semibold">
              <Untrusted text={file.path} max={200} />
            </h4>
            {file.how !== "modified" && <Badge tone="warn">{file.how}</Badge>}
            <span className="text-sm tabular-nums">
              <span className="text-good">+{file.added}</span>{" "}
              <span className="text-bad">−{file.removed}</span>
            </span>
          </header>
          <DiffTable
            file={file}
            hunks={file.hunks}
            gaps={[]}
            mode="unified"
            highlight={null}
            beneath={nothing}
          />
        </section>
      ))}
    </div>
  );
}
