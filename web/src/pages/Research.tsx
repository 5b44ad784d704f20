import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ResearchBrief } from "../api/model";
import { researchListQuery } from "../api/queries";
import { StateBadge } from "../parts/Badge";
import { PageHeader } from "../parts/PageHeader";
import { Answer, Empty } from "../parts/states";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";

export function Research() {
  const sessions = useQuery(researchListQuery);
  return (
    <>
      <PageHeader
        title="Research"
        about="Questions that were looked up in the source, its documents, the ledger, notes and granted pages. Every quote was looked up again."
      />
      <section className="min-w-0 overflow-hidden rounded-card border border-line bg-surface">
        <Answer query={sessions}>
          {(page) =>
            page.items.length === 0 ? (
              <Empty title="Nothing was researched yet">
                Ask with <code className="font-mono">astra research ask QUESTION</code>; an agent
                uses the tool <code className="font-mono">research_and_summarize</code>.
              </Empty>
            ) : (
              <ul>
                {page.items.map((session) => (
                  <Row key={session.id} session={session} />
                ))}
              </ul>
            )
          }
        </Answer>
      </section>
    </>
  );
}

function Row({ session }: { session: ResearchBrief }) {
  return (
    <li className="relative border-b border-line px-4 py-3 last:border-b-0 hover:bg-raised/60">
      <Link
        to="/research/$id"
        params={{ id: session.id }}
        className="font-medium after:absolute after:inset-0"
      >
        <Untrusted text={session.question} max={180} />
      </Link>
      <p className="mt-0.5 flex flex-wrap items-center gap-x-2 gap-y-1 text-sm text-soft">
        <StateBadge state={session.state} />
        <span>
          {session.findings} {session.findings === 1 ? "finding" : "findings"}
        </span>
        <Time at={session.started_at} />
        <span>
          by <Untrusted text={session.actor} max={60} />
        </span>
        <code className="font-mono text-xs">{session.id}</code>
      </p>
    </li>
  );
}
