import type { ResearchFinding } from "../api/model";
import { Badge } from "./Badge";
import { Untrusted } from "./Untrusted";

/** Claims beside the quotes they rest on; below each other on a phone. */
export function Cited({ findings, remark }: { findings: ResearchFinding[]; remark: string }) {
  return (
    <>
      <ol>
        {findings.map((finding, number) => (
          <li
            // biome-ignore lint/suspicious/noArrayIndexKey: findings are numbered and never move
            key={number}
            className="grid gap-x-6 gap-y-2 border-b border-line px-4 py-3 sm:grid-cols-2"
          >
            <div className="min-w-0 text-sm">
              <span className="text-soft">[{number + 1}]</span>{" "}
              <Untrusted text={finding.claim} max={500} />
              <p className="mt-1 text-xs text-soft">
                {finding.by === "search" ? (
                  "found by the server's search"
                ) : (
                  <>
                    in the words of <Untrusted text={finding.by} max={60} />
                  </>
                )}
              </p>
            </div>
            <div className="min-w-0 space-y-2">
              {finding.citations.map((citation) => (
                <Quote key={`${citation.place} ${citation.quote}`} citation={citation} />
              ))}
            </div>
          </li>
        ))}
      </ol>
      <p className="px-4 py-2.5 text-sm text-soft first-letter:uppercase">{remark}.</p>
    </>
  );
}

function Quote({ citation }: { citation: ResearchFinding["citations"][number] }) {
  return (
    <figure className="text-sm">
      <blockquote className="rounded-lg border-l-2 border-line-strong bg-raised px-3 py-2 font-mono text-xs">
        <Untrusted text={citation.quote} block max={600} />
      </blockquote>
      <figcaption className="mt-1 text-xs text-soft">
        {citation.kind}: <Untrusted text={citation.place} max={200} />{" "}
        {!citation.found && <Badge tone="bad">not found now</Badge>}{" "}
        {citation.problem && <Untrusted text={citation.problem} max={200} />}
      </figcaption>
    </figure>
  );
}
