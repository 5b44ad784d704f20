import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import type { Schedule } from "../api/model";
import { historyQuery, schedulesQuery, statusQuery } from "../api/queries";
import { StateBadge, TierBadge } from "../parts/Badge";
import { buttonClass, Key } from "../parts/Button";
import { PageHeader } from "../parts/PageHeader";
import { Answer, Empty } from "../parts/states";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";
import { CronWords } from "../schedules/CronWords";
import { useKeys } from "../shell/keys";
import { Strip } from "./firings";

export function Schedules() {
  const navigate = useNavigate();
  const schedules = useQuery(schedulesQuery);
  useKeys([
    { keys: "n", does: "new schedule", run: () => void navigate({ to: "/schedules/new" }) },
  ]);
  return (
    <>
      <PageHeader
        title="Schedules"
        about="What runs by the clock, within its tier and its budget a day."
        actions={
          <Link to="/schedules/new" className={buttonClass("main")}>
            New schedule
            <Key name="n" />
          </Link>
        }
      />
      <Executor />
      <section className="overflow-hidden rounded-card border border-line bg-surface">
        <Answer query={schedules}>
          {(page) =>
            page.items.length === 0 ? (
              <Empty title="Nothing runs by the clock">
                Make a schedule here, or let the agent make one with{" "}
                <code className="font-mono">astra.schedule.create</code>.
              </Empty>
            ) : (
              <ul>
                {page.items.map((schedule) => (
                  <Row key={schedule.id} schedule={schedule} />
                ))}
              </ul>
            )
          }
        </Answer>
      </section>
    </>
  );
}

function Executor() {
  const { data } = useQuery(statusQuery);
  if (!data?.executor.closed && !data?.executor.trouble) return null;
  return (
    <p role="alert" className="mb-3 rounded-lg bg-warn-wash px-4 py-2 text-sm text-warn">
      No schedule runs at the moment:{" "}
      {data.executor.trouble || data.executor.closed.replaceAll("_", " ")}.
    </p>
  );
}

function Row({ schedule }: { schedule: Schedule }) {
  const history = useQuery(historyQuery(schedule.id, 20));
  return (
    <li className="relative grid gap-x-6 gap-y-1.5 border-b border-line px-4 py-3 last:border-b-0 hover:bg-raised/60 md:grid-cols-[1fr_11rem_10rem] md:items-center">
      <div className="min-w-0">
        <Link
          to="/schedules/$id"
          params={{ id: schedule.id }}
          className="font-medium after:absolute after:inset-0"
        >
          <Untrusted text={schedule.name} max={120} />
        </Link>
        <p className="mt-0.5 flex flex-wrap items-center gap-2 text-sm text-soft">
          <CronWords schedule={schedule} />
          <TierBadge tier={schedule.safety_tier} />
          {schedule.state !== "active" && <StateBadge state={schedule.state} />}
        </p>
      </div>
      <Strip firings={history.data?.items ?? []} />
      <p className="text-sm text-soft">
        {schedule.next_run ? (
          <>
            next <Time coming at={schedule.next_run} className="text-ink" />
          </>
        ) : (
          "does not run"
        )}
      </p>
    </li>
  );
}
