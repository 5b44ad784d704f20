import type { Firing } from "../api/model";
import { COLOURS } from "../pages/firings";
import { useNow } from "../parts/Time";
import { weekOf } from "./hours";

/** A week of firings at a glance: a row a day, a cell an hour (UTC). */
export function Week({ firings }: { firings: Firing[] }) {
  const days = weekOf(firings, useNow());
  return (
    <table className="w-full table-fixed border-separate border-spacing-0.5 text-xs text-soft">
      <caption className="mb-1 text-left">The last seven days, hour by hour (UTC)</caption>
      <tbody>
        {days.map(({ name, date, cells }) => (
          <tr key={date}>
            <th scope="row" className="w-9 text-left font-normal">
              {name}
            </th>
            {cells.map((cell, hour) => (
              <td
                // biome-ignore lint/suspicious/noArrayIndexKey: the hours of a day never move
                key={hour}
                title={cell ? `${date} ${hour}:00, ${cell.count} × ${cell.outcome}` : undefined}
                className={`h-4 rounded-xs ${cell ? (COLOURS[cell.outcome] ?? "bg-line-strong") : "bg-raised"}`}
              >
                {cell && (
                  <span className="sr-only">
                    {hour}:00 {cell.outcome}
                  </span>
                )}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
