import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { GoalBrief } from "../api/goals";
import { goalsQuery } from "../api/queries";
import { StateBadge } from "../parts/Badge";
import { Button } from "../parts/Button";
import { PageHeader } from "../parts/PageHeader";
import { Answer, Empty } from "../parts/states";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";
import { useKeys } from "../shell/keys";
import { NewGoal } from "./NewGoal";
import { GROUPS, groupOf } from "./words";

export function Goals() {
  const goals = useQuery(goalsQuery);
  const [making, setMaking] = useState(false);
  useKeys([{ keys: "n", does: "propose a goal", run: () => setMaking(true) }]);
  return (
    <>
      <PageHeader
        title="Goals"
        about="What is to be achieved. A goal is planned into a graph of tasks; you sign once for all of it, and its tasks run within its budgets."
        actions={
          <Button look="main" hint="n" onClick={() => setMaking(true)}>
            New goal
          </Button>
        }
      />
      {making && <NewGoal onClose={() => setMaking(false)} />}
      <Answer query={goals}>
        {(page) =>
          page.items.length === 0 ? (
            <section className="rounded-card border border-line bg-surface">
              <Empty title="No goals yet">
                Propose one here, make one of a desire, or let an agent propose one with{" "}
                <code className="font-mono">astra.goals.create</code>.
              </Empty>
            </section>
          ) : (
            <div className="space-y-4">
              {GROUPS.map((name) => (
                <Group
                  key={name}
                  name={name}
                  goals={page.items.filter((goal) => groupOf(goal.state) === name).toReversed()}
                />
              ))}
            </div>
          )
        }
      </Answer>
    </>
  );
}

function Group({ name, goals }: { name: string; goals: GoalBrief[] }) {
  if (goals.length === 0) return null;
  return (
    <section className="overflow-hidden rounded-card border border-line bg-surface">
      <h2 className="border-b border-line bg-raised/60 px-4 py-1.5 text-xs font-semibold text-soft">
        {name}
      </h2>
      <ul>
        {goals.map((goal) => (
          <li
            key={goal.id}
            className="relative flex flex-wrap items-center gap-x-6 gap-y-2 border-b border-line px-4 py-3 last:border-b-0 hover:bg-raised/60"
          >
            <div className="min-w-0 flex-1 basis-72">
              <Link
                to="/goals/$id"
                params={{ id: goal.id }}
                className="font-medium after:absolute after:inset-0"
              >
                <Untrusted text={goal.text} max={160} />
              </Link>
              <p className="text-sm text-soft">
                {goal.why && <Untrusted text={`${goal.why}, `} max={160} />}
                by {goal.source === "agent" ? "an agent" : goal.source},{" "}
                <Time at={goal.created_at} />
              </p>
            </div>
            <StateBadge state={goal.state} />
          </li>
        ))}
      </ul>
    </section>
  );
}
