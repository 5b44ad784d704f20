import { Meter } from "../parts/Meter";
import { oneLine } from "../parts/visible";
import type { FileDiff } from "./parse";

/** The files of a change by folder, with what was viewed and how far one has come. */
export function FileTree({
  files,
  viewed,
  at,
  onGo,
}: {
  files: FileDiff[];
  viewed: string[];
  at: number;
  onGo: (index: number) => void;
}) {
  const done = files.filter((file) => viewed.includes(file.path)).length;
  const folders = Map.groupBy(
    files.map((file, index) => ({ file, index })),
    ({ file }) => file.path.split("/").slice(0, -1).join("/"),
  );
  return (
    <div className="rounded-card border border-line bg-surface p-3">
      <p className="mb-1.5 text-sm">
        {done} of {files.length} files viewed
      </p>
      <Meter value={done} max={files.length} label="files viewed" />
      <ul className="mt-3 max-h-72 space-y-2 overflow-y-auto lg:max-h-none">
        {[...folders].map(([folder, items]) => (
          <li key={folder}>
            {folder && (
              <p className="truncate text-xs text-soft" title={oneLine(folder, 300)}>
                {oneLine(folder, 60)}/
              </p>
            )}
            <ul>
              {items.map(({ file, index }) => (
                <li key={file.path}>
                  <button
                    type="button"
                    aria-current={index === at || undefined}
                    onClick={() => onGo(index)}
                    className="flex w-full items-center gap-1.5 rounded-md px-1.5 py-1 text-left text-sm hover:bg-raised aria-[current]:bg-accent-wash aria-[current]:text-accent"
                  >
                    <span aria-hidden="true" className="w-3 text-good">
                      {viewed.includes(file.path) ? "✓" : ""}
                    </span>
                    <span className="min-w-0 flex-1 truncate" title={oneLine(file.path, 300)}>
                      {oneLine(file.path.split("/").at(-1) ?? "", 80)}
                    </span>
                    <span className="text-xs text-good tabular-nums">+{file.added}</span>
                    <span className="text-xs text-bad tabular-nums">−{file.removed}</span>
                  </button>
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </div>
  );
}
