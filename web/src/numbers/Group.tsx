import { Link } from "@tanstack/react-router";
import type { Numbers, Series } from "../api/model";
import { Card } from "../parts/Card";
import { Bars } from "./Bars";
import { dayInWords, inDays, type Line, told } from "./days";

export type Looked = { numbers: Numbers; day: number; choose: (day: number) => void };

/** What belongs together: a chart for each number, and all of them as a table. */
export function Group({ title, lines, ...looked }: Looked & { title: string; lines: Line[] }) {
  const found = lines.flatMap((line) => {
    const series = looked.numbers.series.find((each) => each.name === line.name);
    return series ? [{ ...line, series }] : [];
  });
  return (
    <Card title={title} className="min-w-0">
      <div className="space-y-4">
        {found.map((line) => (
          <Chart key={line.name} line={line} series={line.series} {...looked} />
        ))}
      </div>
      <p aria-hidden="true" className="mt-1 flex justify-between pl-12 text-xs text-soft">
        <span>{dayInWords(looked.numbers.days[0] ?? "")}</span>
        <span>{dayInWords(looked.numbers.days.at(-1) ?? "")}</span>
      </p>
      <Table title={title} lines={found} days={looked.numbers.days} />
    </Card>
  );
}

function Chart({ line, series, numbers, day, choose }: Looked & { line: Line; series: Series }) {
  const { days, began } = numbers;
  const [first = "", last = "", at = ""] = [days[0], days.at(-1), days[day]];
  return (
    <div>
      <p className="mb-1 flex flex-wrap items-baseline gap-x-3 text-sm">
        <span className="mr-auto font-medium">{line.words}</span>
        <span>
          <Count name={line.name} value={series.total} since={first} until={last} /> in{" "}
          {inDays(days.length)}
        </span>
        <span className="text-soft">
          <Count name={line.name} value={series.values[day] ?? 0} since={at} until={at} /> on{" "}
          {dayInWords(at)}
        </span>
      </p>
      <Bars
        values={series.values}
        top={Math.max(...series.values, 1)}
        tone={line.tone}
        label={told(line.words, series.values, days)}
        chosen={day}
        before={days.filter((each) => each < began).length}
        onChoose={choose}
      />
    </div>
  );
}

/** A number that leads to its records; none leads nowhere. */
function Count(props: { name: string; value: number; since: string; until: string }) {
  const { name, value, since, until } = props;
  if (value === 0) return <span className="tabular-nums">0</span>;
  return (
    <Link
      to="/ledger"
      search={{ measure: name, since, until }}
      className="font-semibold text-accent tabular-nums underline underline-offset-2"
    >
      {value.toLocaleString("en")}
    </Link>
  );
}

function Table({
  title,
  lines,
  days,
}: {
  title: string;
  lines: (Line & { series: Series })[];
  days: string[];
}) {
  return (
    <details className="mt-3 text-sm">
      <summary className="w-fit text-accent">As a table</summary>
      <table className="mt-2 w-full border-collapse tabular-nums">
        <caption className="sr-only">{title}, by day (UTC), the newest first</caption>
        <thead>
          <tr className="border-b border-line text-soft">
            <th scope="col" className="py-1 text-left font-medium">
              Day
            </th>
            {lines.map((line) => (
              <th key={line.name} scope="col" className="py-1 pl-3 text-right font-medium">
                {line.words}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days
            .map((day, at) => (
              <tr key={day} className="border-b border-line last:border-b-0">
                <th scope="row" className="py-1 text-left font-normal">
                  {dayInWords(day)}
                </th>
                {lines.map(({ name, series }) => (
                  <td key={name} className="py-1 pl-3 text-right">
                    <Count name={name} value={series.values[at] ?? 0} since={day} until={day} />
                  </td>
                ))}
              </tr>
            ))
            .reverse()}
        </tbody>
      </table>
    </details>
  );
}
