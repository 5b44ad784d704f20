import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import type { ChangeBrief } from "../api/changes";
import { changePages } from "../api/queries";
import { Badge, StateBadge, toneOf } from "../parts/Badge";
import { Button, buttonClass } from "../parts/Button";
import { Choice } from "../parts/Field";
import { PageHeader } from "../parts/PageHeader";
import { Answer, Empty } from "../parts/states";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";

const STATES = [
  "awaiting_approval",
  "gathering_evidence",
  "changes_requested",
  "tests_failed",
  "conflict",
  "executed",
  "rolled_back",
  "rejected",
  "superseded",
];

export function Changes() {
  const { state = "" } = useSearch({ from: "/changes" });
  const navigate = useNavigate();
  const changes = useInfiniteQuery(changePages(state));
  return (
    <>
      <PageHeader
        title="Changes"
        about="What the agent wants to change in its own source. Nothing of it is live before you approve it, or permitted it in advance."
        actions={
          <Link to="/tasks" className={buttonClass("quiet")}>
            Their tasks
          </Link>
        }
      />
      <div className="mb-3 w-56">
        <Choice
          label="Which"
          value={state}
          onChange={(next) =>
            void navigate({ to: "/changes", search: next ? { state: next } : {} })
          }
          options={[
            { value: "", name: "All" },
            ...STATES.map((each) => ({ value: each, name: each.replaceAll("_", " ") })),
          ]}
        />
      </div>
      <section className="overflow-hidden rounded-card border border-line bg-surface">
        <Answer query={changes}>
          {({ pages }) => <Listed changes={pages.flatMap((page) => page.items)} state={state} />}
        </Answer>
      </section>
      {changes.hasNextPage && (
        <div className="mt-3 text-center">
          <Button busy={changes.isFetchingNextPage} onClick={() => changes.fetchNextPage()}>
            Older changes
          </Button>
        </div>
      )}
    </>
  );
}

function Listed({ changes, state }: { changes: ChangeBrief[]; state: string }) {
  if (changes.length > 0) {
    return (
      <ul>
        {changes.map((change) => (
          <Row key={change.id} change={change} />
        ))}
      </ul>
    );
  }
  if (state) return <Empty title={`No change is ${state.replaceAll("_", " ")}`} />;
  return (
    <Empty title="No change has been proposed yet">
      An agent proposes one with <code className="font-mono">schedule_code_modification</code>,
      while code writing is on (see{" "}
      <Link to="/safety" className="text-accent underline">
        Safety
      </Link>
      ).
    </Empty>
  );
}

function Row({ change }: { change: ChangeBrief }) {
  return (
    <li className="relative flex flex-wrap items-center gap-x-4 gap-y-1.5 border-b border-line px-4 py-3 last:border-b-0 hover:bg-raised/60">
      <div className="min-w-0 flex-1 basis-72">
        <Link
          to="/changes/$id"
          params={{ id: change.id }}
          className="font-medium after:absolute after:inset-0"
        >
          <Untrusted text={change.reason} max={160} />
        </Link>
        <p className="text-sm text-soft">
          <code className="font-mono">{change.id}</code>, {change.files}{" "}
          {change.files === 1 ? "file" : "files"}, by{" "}
          <Untrusted text={change.proposed_by} max={40} /> <Time at={change.created_at} />
        </p>
      </div>
      {change.tests && (
        <Badge tone={toneOf(change.tests)}>tests {change.tests.replaceAll("_", " ")}</Badge>
      )}
      <StateBadge state={change.state} />
    </li>
  );
}
