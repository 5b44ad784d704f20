import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { liveDifferenceQuery } from "../api/queries";
import type { components } from "../api/schema";
import { Badge, StateBadge, toneOf } from "../parts/Badge";
import { Button } from "../parts/Button";
import { Fact, Facts } from "../parts/Card";
import { StoryLink } from "../parts/Id";
import { Answer } from "../parts/states";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";
import { PlainDiff } from "../review/PlainDiff";
import { parseDiff } from "../review/parse";

export type LiveDifference = components["schemas"]["LiveDifferenceShown"];

/** What is live against what would be live: the changes in it, what failed before, every line. */
export function Difference() {
  return (
    <Answer query={useQuery(liveDifferenceQuery)} rows={3}>
      {(difference) => <Shown difference={difference} />}
    </Answer>
  );
}

function Shown({ difference }: { difference: LiveDifference }) {
  const { live, commit, contains, quarantined, history } = difference;
  return (
    <div className="space-y-4">
      <Facts>
        <Fact name="Live now">
          {live ? (
            <>
              <StoryLink id={live.release} />, commit {short(live.commit)}
            </>
          ) : (
            "nothing is deployed; this would be the first release"
          )}
        </Fact>
        <Fact name="Would be live">
          commit <code className="font-mono">{short(commit)}</code>
          {live?.commit === commit && ", which is live already"}
          {live && !difference.is_ahead && live.commit !== commit && (
            <span className="text-warn"> · what is live is not part of it</span>
          )}
        </Fact>
        {quarantined && (
          <Fact name="Quarantine">
            <Badge tone="bad">failed before</Badge> <Untrusted text={quarantined} max={300} />
          </Fact>
        )}
        {contains.map((failed) => (
          <Fact key={failed.commit} name="Contains">
            <Badge tone="bad">failed in service</Badge>{" "}
            <code className="font-mono">{short(failed.commit)}</code>:{" "}
            <Untrusted text={failed.reason} max={300} />
          </Fact>
        ))}
      </Facts>
      <Brought difference={difference} />
      {history.length > 0 && <History attempts={history} />}
      <Lines difference={difference} />
    </div>
  );
}

/** The changes that a deployment brings, each with its tests. */
function Brought({ difference: { commits, more } }: { difference: LiveDifference }) {
  if (commits.length === 0) return null;
  return (
    <div>
      <h3 className="mb-1 text-sm font-semibold">
        {more ? `More than ${commits.length - 1}` : commits.length}{" "}
        {commits.length === 1 ? "change" : "changes"} in it
      </h3>
      <ul className="space-y-1 text-sm">
        {commits.map((each) => (
          <li key={each.commit} className="flex flex-wrap items-baseline gap-x-2">
            {each.change ? (
              <Link
                to="/changes/$id"
                params={{ id: each.change }}
                className="inline-block min-h-[24px] text-accent underline"
              >
                <Untrusted text={each.reason} max={160} inButton />
              </Link>
            ) : (
              <span>a commit that came with the target</span>
            )}
            <code className="font-mono text-soft">{short(each.commit)}</code>
            {each.tests && (
              <Badge tone={toneOf(each.tests)}>tests {each.tests.replaceAll("_", " ")}</Badge>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** How the same commit went before, in staging and in service. */
function History({ attempts }: { attempts: LiveDifference["history"] }) {
  return (
    <div>
      <h3 className="mb-1 text-sm font-semibold">This commit was deployed before</h3>
      <ul className="space-y-1 text-sm">
        {attempts.map((attempt) => (
          <li key={attempt.deployment} className="flex flex-wrap items-baseline gap-x-2">
            <StateBadge state={attempt.state} />
            <span>
              {attempt.kind}, {attempt.rehearsed_at ? "ran well in staging" : "without staging"}
            </span>
            {attempt.reason && <Untrusted text={attempt.reason} max={200} />}
            <Time at={attempt.requested_at} className="text-soft" />
            <StoryLink id={attempt.correlation}>evidence</StoryLink>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Lines({ difference }: { difference: LiveDifference }) {
  const [open, setOpen] = useState(false);
  const files = useMemo(() => parseDiff(difference.diff), [difference.diff]);
  if (files.length === 0) {
    const { live, commit, is_ahead, truncated } = difference;
    const isSame = live && live.commit !== commit && is_ahead && !truncated;
    return isSame ? <p className="text-sm">Every file is the same as what is live.</p> : null;
  }
  const added = files.reduce((sum, file) => sum + file.added, 0);
  const removed = files.reduce((sum, file) => sum + file.removed, 0);
  return (
    <div>
      <div className="flex flex-wrap items-center gap-3 text-sm">
        <h3 className="font-semibold">
          {files.length} {files.length === 1 ? "file differs" : "files differ"} from what is live,{" "}
          <span className="text-good">+{added}</span> <span className="text-bad">−{removed}</span>
        </h3>
        <Button onClick={() => setOpen(!open)} aria-expanded={open}>
          {open ? "Hide the lines" : "Show every line"}
        </Button>
      </div>
      {difference.truncated && (
        <p className="mt-1 text-sm text-warn">
          The difference is longer than a page can show; git diff has the rest.
        </p>
      )}
      {open && <PlainDiff files={files} />}
    </div>
  );
}

const short = (commit: string): string => commit.slice(0, 12);
