import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type PlanBrief, plansQuery } from "../api/plans";
import { StateBadge } from "../parts/Badge";
import { Meter } from "../parts/Meter";
import { PageHeader } from "../parts/PageHeader";
import { Answer, Empty } from "../parts/states";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";
import { groupOf, titleOf } from "./words";

const GROUPS = ["Waiting for you", "Under way", "Over"] as const;

export function Plans() {
  const plans = useQuery(plansQuery);
  return (
    <>
      <PageHeader
        title="Plans"
        about="Work in several steps. You approve what a plan may touch, once; it asks again for anything else."
      />
      <Answer query={plans}>
        {(page) =>
          page.items.length === 0 ? (
            <section className="rounded-card border border-line bg-surface">
              <Empty title="No plans yet">
                An agent drafts one with <code className="font-mono">astra.plans.draft</code>, or
                you do with <code className="font-mono">astra plans draft</code>.
              </Empty>
            </section>
          ) : (
            <div className="space-y-4">
              {GROUPS.map((name) => (
                <Group
                  key={name}
                  name={name}
                  plans={page.items.filter((plan) => groupOf(plan.state, plan.asks) === name)}
                />
              ))}
            </div>
          )
        }
      </Answer>
    </>
  );
}

function Group({ name, plans }: { name: string; plans: PlanBrief[] }) {
  if (plans.length === 0) return null;
  return (
    <section className="overflow-hidden rounded-card border border-line bg-surface">
      <h2 className="border-b border-line bg-raised/60 px-4 py-1.5 text-xs font-semibold text-soft">
        {name}
      </h2>
      <ul>
        {plans.map((plan) => (
          <li
            key={plan.id}
            className="relative flex flex-wrap items-center gap-x-6 gap-y-2 border-b border-line px-4 py-3 last:border-b-0 hover:bg-raised/60"
          >
            <div className="min-w-0 flex-1 basis-72">
              <Link
                to="/plans/$id"
                params={{ id: plan.id }}
                className="font-medium after:absolute after:inset-0"
              >
                <Untrusted text={titleOf(plan)} max={160} />
              </Link>
              <p className="text-sm text-soft">
                {plan.reason && <Untrusted text={`${plan.reason}, `} max={160} />}
                <Time at={plan.updated_at ?? plan.created_at} />
              </p>
            </div>
            <div className="w-36 text-sm text-soft">
              {plan.checkpoints_done} of {plan.checkpoints} checkpoints
              <Meter
                value={plan.checkpoints_done}
                max={plan.checkpoints}
                label="checkpoints done"
              />
            </div>
            <StateBadge state={plan.state} />
          </li>
        ))}
      </ul>
    </section>
  );
}
