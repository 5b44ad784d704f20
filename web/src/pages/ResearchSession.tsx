import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { ResearchShown } from "../api/model";
import { researchQuery } from "../api/queries";
import { Badge, StateBadge } from "../parts/Badge";
import { Card, Fact, Facts } from "../parts/Card";
import { Cited } from "../parts/Cited";
import { StoryLink } from "../parts/Id";
import { PageHeader } from "../parts/PageHeader";
import { Answer } from "../parts/states";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";

export function ResearchSession() {
  const { id } = useParams({ from: "/research/$id" });
  return (
    <Answer whole query={useQuery(researchQuery(id))}>
      {(session) => <Session session={session} />}
    </Answer>
  );
}

function Session({ session }: { session: ResearchShown }) {
  return (
    <>
      <PageHeader
        title={session.question}
        about={
          <>
            <StateBadge state={session.state} /> asked <Time at={session.started_at} /> by{" "}
            <Untrusted text={session.actor} max={60} />
          </>
        }
      />
      <div className="space-y-4">
        {session.narrative && (
          <Card title="Summary, made of supported claims only">
            <Untrusted text={session.narrative} block max={4_000} />
            {session.note && (
              <p className="mt-2 text-sm text-soft">
                Note: <Untrusted text={session.note} max={300} />
              </p>
            )}
          </Card>
        )}
        <Card title={`${session.findings.length} findings: claim and quote`} padded={false}>
          <Cited findings={session.findings} remark={session.remark} />
        </Card>
        <LeftOpen session={session} />
        <Coverage session={session} />
      </div>
    </>
  );
}

/** What contradicts itself, and what nobody looked up. */
function LeftOpen({ session }: { session: ResearchShown }) {
  if (session.contested.length === 0 && session.open_questions.length === 0) return null;
  return (
    <Card title="Contested and open">
      <ul className="space-y-2 text-sm">
        {session.contested.map(({ claims }) => (
          <li key={claims.join("\n")}>
            <Badge tone="warn">contested</Badge>{" "}
            <Untrusted text={claims.join(" against ")} max={600} />
          </li>
        ))}
        {session.open_questions.map((question) => (
          <li key={question}>
            <Badge>open</Badge> <Untrusted text={question} max={300} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

type Searched = { source: string; query: string; searched: string; trouble: string };

function Coverage({ session }: { session: ResearchShown }) {
  const coverage = session.coverage as {
    sources?: Searched[];
    left_out?: { url: string; why: string }[];
  } | null;
  return (
    <Card title="What was searched">
      <Facts>
        {coverage?.sources?.map((item, number) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: tasks are numbered and never move
          <Fact key={number} name={item.source}>
            <Untrusted text={item.query} max={120} />
            <span className="text-soft">
              : <Untrusted text={item.searched} max={200} />
            </span>
            {item.trouble && (
              <p className="text-warn">
                <Untrusted text={item.trouble} max={300} />
              </p>
            )}
          </Fact>
        ))}
        {coverage?.left_out?.map((item) => (
          <Fact key={item.url} name="left out">
            <Untrusted text={`${item.url}: ${item.why}`} max={300} />
          </Fact>
        ))}
        <Fact name="Unsupported">
          {session.unsupported === 0
            ? "no claim was left out"
            : `${session.unsupported} claims had no quote that was found; they are not shown`}
        </Fact>
        <Fact name="Commit">
          <code className="font-mono">{session.commit.slice(0, 12)}</code>
        </Fact>
        <Fact name="Records">
          <StoryLink id={session.id}>the story of this session</StoryLink>
        </Fact>
      </Facts>
    </Card>
  );
}
