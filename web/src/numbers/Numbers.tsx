import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useId, useState } from "react";
import type { Numbers as Counted } from "../api/model";
import { numbersQuery } from "../api/queries";
import { QueueRows } from "../pages/Queues";
import { Card } from "../parts/Card";
import { Choice } from "../parts/Field";
import { PageHeader } from "../parts/PageHeader";
import { Answer, Empty } from "../parts/states";
import { Budgets } from "./Budgets";
import { dayInWords, GROUPS, inDays, untilTomorrow } from "./days";
import { Group } from "./Group";

const SPANS = [7, 14, 30, 90];

export function Numbers() {
  const { days = 14 } = useSearch({ from: "/numbers" });
  const navigate = useNavigate();
  const tomorrow = () => untilTomorrow(Date.now());
  const counted = useQuery({ ...numbersQuery(days), refetchInterval: tomorrow });
  const spans = SPANS.includes(days) ? SPANS : [...SPANS, days].sort((a, b) => a - b);
  return (
    <>
      <PageHeader
        title="Numbers"
        about="How much of what happened, day by day in UTC. Every number leads to the records it counts."
        actions={
          <div className="w-36">
            <Choice
              hidden
              label="How many days"
              value={String(days)}
              onChange={(next) =>
                void navigate({ to: "/numbers", search: { days: Number(next) }, replace: true })
              }
              options={spans.map((each) => ({ value: String(each), name: inDays(each) }))}
            />
          </div>
        }
      />
      <Answer query={counted}>{(found) => <Shown numbers={found} />}</Answer>
    </>
  );
}

function Shown({ numbers }: { numbers: Counted }) {
  const [chosen, setChosen] = useState<string | null>(null);
  const last = numbers.days.length - 1;
  const found = numbers.days.indexOf(chosen ?? "");
  const day = found < 0 ? last : found;
  const choose = (at: number) => setChosen(at === last ? null : (numbers.days[at] ?? null));
  const looked = { numbers, day, choose };
  const nothing = numbers.series.every((series) => series.total === 0);
  return (
    <div className="space-y-4">
      {nothing ? (
        <div className="rounded-card border border-line bg-surface">
          <Empty title={`Nothing was counted in ${inDays(numbers.days.length)}`}>
            Numbers appear by themselves when an agent calls a tool, proposes a change, or when you
            decide on something.
          </Empty>
        </div>
      ) : (
        <>
          <DayChoice days={numbers.days} day={day} choose={choose} />
          {(numbers.days[0] ?? "") < numbers.began && (
            <p className="text-sm text-soft">
              The shaded days are before the first record, of {dayInWords(numbers.began)}.
            </p>
          )}
          <div className="grid gap-4 lg:grid-cols-2">
            {GROUPS.map((group) => (
              <Group key={group.title} {...group} {...looked} />
            ))}
            <Budgets {...looked} />
          </div>
        </>
      )}
      <Card title="What waits now" padded={false}>
        <ul>
          <QueueRows queues={numbers.queues} />
        </ul>
      </Card>
    </div>
  );
}

/** The day that all charts speak of: pointed at in one of them, or chosen here by keyboard. */
function DayChoice({
  days,
  day,
  choose,
}: {
  days: string[];
  day: number;
  choose: (at: number) => void;
}) {
  const id = useId();
  const words = dayInWords(days[day] ?? "") + (day === days.length - 1 ? ", today" : "");
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-sm">
      <label htmlFor={id} className="font-medium">
        Day
      </label>
      <input
        id={id}
        type="range"
        min={0}
        max={days.length - 1}
        value={day}
        aria-valuetext={words}
        onChange={(event) => choose(Number(event.target.value))}
        className="h-7 min-w-40 flex-1 accent-accent"
      />
      <output htmlFor={id} className="w-36 text-right whitespace-nowrap tabular-nums">
        {words}
      </output>
    </div>
  );
}
