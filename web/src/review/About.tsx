import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Change, Comment, TestRun } from "../api/changes";
import { releasesQuery } from "../api/plans";
import { Badge, StateBadge, toneOf } from "../parts/Badge";
import { Card, Fact, Facts } from "../parts/Card";
import { Cited } from "../parts/Cited";
import { StoryLink } from "../parts/Id";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";
import { findingsTitle, ranked } from "./decision";
import { placeInWords } from "./drafts";
import { goTo } from "./FileCard";
import { FindingNote } from "./Notes";
import { Again, LiveOutput } from "./Running";

/** Why it was proposed, what it would do to what is live, and what is known about it. */
export function About({ change }: { change: Change }) {
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Card title="Why, in the agent's words">
        <Untrusted text={change.reason} block max={800} />
        {change.goal_text && (
          <p className="mt-2 text-sm text-soft">
            For the goal: <Untrusted text={change.goal_text} max={200} />
          </p>
        )}
        {change.plan && <FromPlan plan={change.plan} />}
        <Comments change={change} />
      </Card>
      <Card title="Live, against proposed">
        <Facts>
          <LiveNow />
          <Fact name="Built on">
            <code className="font-mono">{change.base.slice(0, 12)}</code> of{" "}
            <Untrusted text={change.target_branch} />
          </Fact>
          <Fact name="Proposed">
            <code className="font-mono">{change.commit.slice(0, 12)}</code>, round {change.round}
          </Fact>
          <Fact name="Difference">
            {change.diff.files} {change.diff.files === 1 ? "file" : "files"},{" "}
            <span className="text-good">+{change.diff.added}</span>{" "}
            <span className="text-bad">−{change.diff.removed}</span>
          </Fact>
          <Touches name="Protected" paths={change.protected} />
          <Touches name="Tests" paths={change.tests_touched} />
          <Touches name="Dependencies" paths={change.dependencies} />
          <Fact name="Records">
            <StoryLink id={change.id}>the story of this change</StoryLink>
          </Fact>
        </Facts>
      </Card>
      <Evidence change={change} />
      <Findings change={change} />
      <FromResearch change={change} />
    </div>
  );
}

/** The research a change comes from: claims beside the quotes that were found for them. */
function FromResearch({ change }: { change: Change }) {
  const session = change.research_session;
  if (!session) return null;
  return (
    <Card
      className="lg:col-span-2"
      padded={false}
      title={
        <>
          Research:{" "}
          <Link to="/research/$id" params={{ id: session.id }} className="text-accent underline">
            <Untrusted text={session.question} max={160} inButton />
          </Link>
        </>
      }
    >
      <Cited findings={session.findings} remark={session.remark} />
    </Card>
  );
}

/** The plan a change comes from, and what that plan was granted. */
function FromPlan({ plan }: { plan: NonNullable<Change["plan"]> }) {
  return (
    <div className="mt-2 text-sm text-soft">
      From the plan{" "}
      <Link to="/plans/$id" params={{ id: plan.id }} className="text-accent underline">
        {plan.id}
      </Link>
      : <Untrusted text={plan.goals.join("; ")} max={200} />
      {Object.entries(plan.grants).map(([kind, values]) => (
        <p key={kind}>
          granted {kind.replaceAll("_", " ")}: <Untrusted text={values.join(", ")} max={300} />
        </p>
      ))}
    </div>
  );
}

/** What serves at this moment; a merged change is not live before it is deployed. */
function LiveNow() {
  const { data } = useQuery(releasesQuery);
  const live = data?.items.find((each) => each.live);
  return (
    <Fact name="Live now">
      {live ? (
        <StoryLink id={live.id}>{live.commit.slice(0, 12)}</StoryLink>
      ) : (
        "nothing is deployed"
      )}
    </Fact>
  );
}

function Touches({ name, paths }: { name: string; paths: string[] }) {
  if (paths.length === 0) return null;
  return (
    <Fact name={name}>
      <Badge tone="warn">touched</Badge> <Untrusted text={paths.join(", ")} max={300} />
    </Fact>
  );
}

const OLD_CODE = "new tests, base code";
const LABELS: Record<string, string> = {
  change: "the new code with its tests",
  "base tests, new code": "the new code with the tests as they were",
  [OLD_CODE]: "the old code with the new tests",
};

/** The new tests should fail on the old code: only then do they notice the change. */
function meaning(run: TestRun): string {
  if (run.label !== OLD_CODE || !run.report) return "";
  const { verdict, failed } = run.report;
  if (verdict === "passed") return "They pass there too, so they prove nothing new.";
  if (verdict !== "failed") return "They did not run to their end there, which proves nothing.";
  return failed
    ? "As it should be: the new tests notice the change."
    : "They cannot even start there, which proves nothing.";
}

function Evidence({ change }: { change: Change }) {
  const { evidence } = change;
  return (
    <Card
      title="Tests"
      actions={
        evidence.verdict ? <StateBadge state={evidence.verdict} /> : <Badge>under way</Badge>
      }
    >
      <p className="mb-2 first-letter:uppercase">{evidence.words}</p>
      {evidence.warnings?.map((said) => (
        <p key={said} className="mb-2 text-bad first-letter:uppercase">
          {said}
        </p>
      ))}
      {evidence.mutation && <Mutants mutation={evidence.mutation} />}
      <ul className="space-y-2">
        {evidence.runs.map((run) => (
          <Run key={run.label} run={run} />
        ))}
      </ul>
      {change.state === "gathering_evidence" && <LiveOutput change={change} />}
      <p className="mt-2 text-sm text-soft">
        The counts are what the code under test says about itself. Runs in the sandbox.
      </p>
      {["awaiting_approval", "tests_failed"].includes(change.state) && <Again change={change} />}
    </Card>
  );
}

/** Small faults put into the touched code: those that no test notices survive. */
function Mutants({ mutation }: { mutation: NonNullable<Change["evidence"]["mutation"]> }) {
  const { words, lost, survivors } = mutation;
  const shown = lost.length > 0 ? lost : survivors;
  return (
    <details className={`mb-2 ${lost.length > 0 ? "text-bad" : ""}`}>
      <summary className="first-letter:uppercase">{words}</summary>
      <ul className="mt-1 text-sm">
        {shown.map(({ path, line, kind, text }) => (
          <li key={`${path}:${line}:${kind}:${text}`}>
            <Untrusted text={`${path}:${line} ${kind.replaceAll("_", " ")}: ${text}`} max={200} />
            {lost.length > 0 && " (noticed before)"}
          </li>
        ))}
      </ul>
    </details>
  );
}

function Run({ run }: { run: TestRun }) {
  const { report } = run;
  const said = meaning(run);
  return (
    <li className="rounded-lg border border-line px-3 py-2 text-sm">
      <p className="flex flex-wrap items-center gap-2">
        <Badge tone={run.label === OLD_CODE ? "plain" : toneOf(report?.verdict ?? "")}>
          {(report?.verdict ?? "waiting").replaceAll("_", " ")}
        </Badge>
        <span>{LABELS[run.label] ?? run.label.replaceAll("_", " ")}</span>
        {report && (
          <span className="text-soft">
            {report.passed ?? "?"} passed, {report.failed ?? "?"} failed
            {report.seconds ? `, ${report.seconds.toFixed(1)} s` : ""}
          </span>
        )}
      </p>
      {said && <p className="mt-1 text-soft">{said}</p>}
      {report?.failures?.slice(0, 20).map((failure) => (
        <p
          key={failure.name}
          className={`mt-1 ${run.label === OLD_CODE ? "text-soft" : "text-bad"}`}
        >
          <Untrusted text={`${failure.name}: ${failure.message}`} max={300} />
        </p>
      ))}
      {report?.output_tail && (
        <details className="mt-1">
          <summary className="text-soft">what it printed at the end</summary>
          <pre className="mt-1 max-h-72 overflow-auto rounded-lg bg-raised px-3 py-2 font-mono text-xs">
            <Untrusted text={report.output_tail} block max={8_000} />
          </pre>
        </details>
      )}
    </li>
  );
}

function Findings({ change }: { change: Change }) {
  const found = change.findings;
  return (
    <Card title={findingsTitle(found)}>
      {found === null && <p className="text-sm text-soft">The scan is under way.</p>}
      {found?.length === 0 && (
        <p className="text-sm text-soft">The scan found nothing to point at.</p>
      )}
      <ul className="space-y-2 text-sm">
        {ranked(found ?? []).map((finding) => (
          <li key={`${finding.path}:${finding.line}:${finding.rule}:${finding.message}`}>
            <FindingNote finding={finding} />
            <button
              type="button"
              className="min-h-[24px] text-left text-accent hover:underline"
              onClick={() => goTo(finding.path, finding.line)}
            >
              <Untrusted text={`${finding.path}:${finding.line}`} max={160} />
            </button>
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** Remarks on lines stand beside them; those of an earlier round are told here, with their place. */
function Remarks({ comment, change }: { comment: Comment; change: Change }) {
  if (comment.remarks.length === 0) return null;
  if (comment.commit === change.commit) {
    const count = comment.remarks.length;
    return (
      <p className="text-soft">{`${count} ${count === 1 ? "remark" : "remarks"} beside lines`}</p>
    );
  }
  return (
    <ul className="mt-1 space-y-1">
      {comment.remarks.map((each) => (
        <li key={placeInWords(each)}>
          <Untrusted text={placeInWords(each)} max={160} className="font-mono text-soft" /> at{" "}
          <code className="font-mono text-soft">{comment.commit.slice(0, 12)}</code>:{" "}
          <Untrusted text={each.text} max={400} />
        </li>
      ))}
    </ul>
  );
}

function Comments({ change }: { change: Change }) {
  if (change.comments.length === 0 && !change.superseded_by && !change.supersedes) return null;
  return (
    <div className="mt-3 space-y-2 border-t border-line pt-3 text-sm">
      {change.supersedes && (
        <p>
          A revision of{" "}
          <Link
            to="/changes/$id"
            params={{ id: change.supersedes }}
            className="text-accent underline"
          >
            {change.supersedes}
          </Link>
        </p>
      )}
      {change.superseded_by && (
        <p>
          Replaced by{" "}
          <Link
            to="/changes/$id"
            params={{ id: change.superseded_by }}
            className="text-accent underline"
          >
            {change.superseded_by}
          </Link>
        </p>
      )}
      {change.comments.map((comment) => (
        <div key={comment.time}>
          <p className="text-soft">
            <Untrusted text={comment.by} max={60} /> <Time at={comment.time} />
          </p>
          {comment.text && <Untrusted text={comment.text} block max={1_000} />}
          <Remarks comment={comment} change={change} />
        </div>
      ))}
    </div>
  );
}
