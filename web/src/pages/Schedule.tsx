import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { answer, api } from "../api/client";
import type { Firing, Schedule } from "../api/model";
import { historyQuery, scheduleQuery } from "../api/queries";
import { StateBadge, TierBadge } from "../parts/Badge";
import { Button, buttonClass, Key } from "../parts/Button";
import { Card, Fact, Facts } from "../parts/Card";
import { Json } from "../parts/Json";
import { Meter } from "../parts/Meter";
import { PageHeader } from "../parts/PageHeader";
import { Answer, Empty, Trouble } from "../parts/states";
import { Time, useNow } from "../parts/Time";
import { briefIn } from "../parts/time";
import { Untrusted } from "../parts/Untrusted";
import { CronWords } from "../schedules/CronWords";
import { Week } from "../schedules/Week";
import { useKeys } from "../shell/keys";
import { usedToday } from "./firings";

export function SchedulePage() {
  const { id } = useParams({ from: "/schedules/$id" });
  return (
    <Answer whole query={useQuery(scheduleQuery(id))}>
      {(found) => <Shown schedule={found} />}
    </Answer>
  );
}

function Shown({ schedule }: { schedule: Schedule }) {
  const history = useQuery(historyQuery(schedule.id, 500));
  return (
    <>
      <PageHeader
        title={schedule.name}
        about={
          <>
            Runs <Untrusted text={schedule.target_tool} max={80} />{" "}
            <CronWords schedule={schedule} />
          </>
        }
        actions={<Actions schedule={schedule} />}
      />
      <div className="grid gap-4 lg:grid-cols-[1fr_20rem]">
        <Card title="History" padded={false} className="min-w-0">
          <Answer query={history}>
            {(page) =>
              page.items.length === 0 ? (
                <Empty title="It has not run yet" />
              ) : (
                <>
                  <div className="overflow-x-auto border-b border-line px-4 py-3">
                    <Week firings={page.items} />
                  </div>
                  <ul>
                    {page.items.slice(0, 50).map((firing) => (
                      <FiringRow key={firing.id} firing={firing} />
                    ))}
                  </ul>
                </>
              )
            }
          </Answer>
        </Card>
        <div className="space-y-4">
          <Today schedule={schedule} firings={history.data?.items ?? []} />
          <Card title="Next firings">
            {schedule.state === "paused" ? (
              <p className="text-sm text-soft">None while it is paused.</p>
            ) : (
              <ol className="space-y-1 text-sm">
                {schedule.next_runs.map((run) => (
                  <li key={run} className="flex justify-between gap-3">
                    <span>{briefIn(run, schedule.timezone)}</span>
                    <Time coming at={run} className="text-soft" />
                  </li>
                ))}
              </ol>
            )}
          </Card>
          <Card title="What runs">
            <Facts>
              <Fact name="Tool">
                <Untrusted text={schedule.target_tool} className="font-mono text-sm" />
              </Fact>
              <Fact name="Tier">
                <TierBadge tier={schedule.safety_tier} />
              </Fact>
              <Fact name="Overlap">{schedule.overlap}</Fact>
              <Fact name="Attempts">{schedule.attempts}</Fact>
            </Facts>
            <div className="mt-3">
              <Json value={schedule.payload} />
            </div>
          </Card>
        </div>
      </div>
    </>
  );
}

function Actions({ schedule }: { schedule: Schedule }) {
  const client = useQueryClient();
  const paused = schedule.state === "paused";
  const path = { params: { path: { identifier: schedule.id } } };
  const change = useMutation({
    mutationFn: async (what: "toggle" | "run" | "delete"): Promise<unknown> => {
      const seen = { ...path, body: { seen: schedule.etag } };
      if (what === "delete") return answer(api.POST("/api/schedules/{identifier}/delete", path));
      if (what === "run")
        return answer(api.POST("/api/schedules/{identifier}/run", { ...path, body: {} }));
      return paused
        ? answer(api.POST("/api/schedules/{identifier}/resume", seen))
        : answer(api.POST("/api/schedules/{identifier}/pause", path));
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["schedules"] }),
  });
  const [sure, setSure] = useState(false);
  const navigate = useNavigate();
  const edit = { to: "/schedules/$id/edit", params: { id: schedule.id } } as const;
  useKeys([
    { keys: "p", does: paused ? "resume" : "pause", run: () => change.mutate("toggle") },
    { keys: "e", does: "edit", run: () => void navigate(edit) },
  ]);
  if (schedule.state === "deleted") return <StateBadge state={schedule.state} />;
  return (
    <>
      <StateBadge state={schedule.state} />
      <Link {...edit} className={buttonClass()}>
        Edit
        <Key name="e" />
      </Link>
      <Button busy={change.isPending} hint="p" onClick={() => change.mutate("toggle")}>
        {paused ? "Resume" : "Pause"}
      </Button>
      <Button busy={change.isPending} onClick={() => change.mutate("run")}>
        Run once now
      </Button>
      <Button
        busy={change.isPending}
        onClick={() => (sure ? change.mutate("delete") : setSure(true))}
      >
        {sure ? "Delete it for good" : "Delete…"}
      </Button>
      {change.error && <Trouble error={change.error} />}
    </>
  );
}

function Today({ schedule, firings }: { schedule: Schedule; firings: Firing[] }) {
  const used = usedToday(firings, useNow());
  const limit = schedule.per_day_budget;
  return (
    <Card title="Budget today">
      {schedule.safety_tier === 0 ? (
        <p className="text-sm text-soft">
          It only reads, so it has no limit. {used} {used === 1 ? "firing" : "firings"} today.
        </p>
      ) : (
        <>
          <p className="mb-1.5 text-sm">
            {used} of {limit} firings used (UTC day)
          </p>
          <Meter
            value={used}
            max={limit}
            label="firings used today"
            tone={used >= limit ? "bad" : "accent"}
          />
        </>
      )}
    </Card>
  );
}

function FiringRow({ firing }: { firing: Firing }) {
  return (
    <li className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5 border-b border-line px-4 py-2 text-sm last:border-b-0">
      <StateBadge state={firing.outcome} />
      <Time at={firing.fire_time} />
      <span className="min-w-0 flex-1 text-soft">
        <Untrusted text={why(firing)} max={200} />
      </span>
      <Link
        to="/ledger/story/$id"
        params={{ id: firing.trace }}
        className="text-accent hover:underline"
      >
        evidence
      </Link>
    </li>
  );
}

function why(firing: Firing): string {
  const took = firing.milliseconds ? `took ${(firing.milliseconds / 1000).toFixed(1)} s` : "";
  const parts = [firing.reason.replaceAll("_", " "), firing.detail, took];
  if (firing.kind !== "cron") parts.unshift(firing.kind.replaceAll("_", " "));
  return parts.filter(Boolean).join(", ");
}
