import { Link } from "@tanstack/react-router";
import type { BudgetDays } from "../api/model";
import { Card } from "../parts/Card";
import { StoryLink } from "../parts/Id";
import { Untrusted } from "../parts/Untrusted";
import { Bars } from "./Bars";
import { dayInWords, told } from "./days";
import type { Looked } from "./Group";

/** What was started, against what may be started on a day; a full chart is a spent budget. */
export function Budgets({ numbers, day, choose }: Looked) {
  const { budgets, other_budgets: others, days, began } = numbers;
  return (
    <Card title="Budgets of the last week, the fullest first" className="min-w-0 lg:col-span-2">
      {budgets.length === 0 ? (
        <p className="text-sm text-soft">
          Nothing was started in the last seven days. Reading is free, and a plan spends its own
          steps.
        </p>
      ) : (
        <>
          <ul className="grid gap-x-8 gap-y-4 sm:grid-cols-2">
            {budgets.map((budget) => (
              <li key={`${budget.scope} ${budget.name}`} className="min-w-0">
                <p className="mb-1 flex flex-wrap items-baseline gap-x-3 text-sm">
                  <span className="mr-auto min-w-0 font-medium [overflow-wrap:anywhere]">
                    {budget.scope} <Untrusted text={budget.name} max={60} />
                  </span>
                  <span className="text-soft">
                    <Used budget={budget} at={day} /> of {budget.limit} on{" "}
                    {dayInWords(days[day] ?? "")}
                  </span>
                </p>
                <Bars
                  values={budget.used}
                  top={budget.limit}
                  tone={(budget.used[day] ?? 0) >= budget.limit ? "bad" : "accent"}
                  label={`${told(`${budget.scope} ${budget.name}`, budget.used, days)}; ${budget.limit} are allowed`}
                  chosen={day}
                  before={days.filter((each) => each < began).length}
                  onChoose={choose}
                />
              </li>
            ))}
          </ul>
          {others > 0 && (
            <p className="mt-3 text-sm text-soft">
              {others} more were used less; all starts are{" "}
              <Link
                to="/ledger"
                search={{ type: "budget_spent" }}
                className="text-accent underline"
              >
                in the ledger
              </Link>
              .
            </p>
          )}
          <Table budgets={budgets} days={days} />
        </>
      )}
    </Card>
  );
}

function Used({ budget, at }: { budget: BudgetDays; at: number }) {
  const id = budget.ids[at];
  const used = String(budget.used[at] ?? 0);
  return id ? <StoryLink id={id}>{used}</StoryLink> : <span className="tabular-nums">{used}</span>;
}

function Table({ budgets, days }: { budgets: BudgetDays[]; days: string[] }) {
  return (
    <details className="mt-3 text-sm">
      <summary className="w-fit text-accent">As a table</summary>
      <table className="mt-2 w-full border-collapse tabular-nums">
        <caption className="mb-1 text-left text-soft">
          Days (UTC) on which something was started, the newest first; on the others nothing was
        </caption>
        <thead>
          <tr className="border-b border-line text-left text-soft">
            <th scope="col" className="py-1 font-medium">
              Budget
            </th>
            <th scope="col" className="py-1 pl-3 font-medium">
              Day
            </th>
            <th scope="col" className="py-1 pl-3 text-right font-medium">
              Used
            </th>
          </tr>
        </thead>
        <tbody>
          {budgets.flatMap((budget) =>
            days
              .map((day, at) => ({ day, at }))
              .filter(({ at }) => budget.ids[at])
              .map(({ day, at }) => (
                <tr key={`${budget.scope} ${budget.name} ${day}`} className="border-b border-line">
                  <th scope="row" className="py-1 text-left font-normal [overflow-wrap:anywhere]">
                    {budget.scope} <Untrusted text={budget.name} max={60} />
                  </th>
                  <td className="py-1 pl-3 whitespace-nowrap">{dayInWords(day)}</td>
                  <td className="py-1 pl-3 text-right">
                    <Used budget={budget} at={at} />
                  </td>
                </tr>
              ))
              .reverse(),
          )}
        </tbody>
      </table>
    </details>
  );
}
