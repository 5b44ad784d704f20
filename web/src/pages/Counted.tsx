import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { countedPages } from "../api/queries";
import { dayInWords, NAMES } from "../numbers/days";
import { Button, buttonClass } from "../parts/Button";
import { PageHeader } from "../parts/PageHeader";
import { Answer, Empty } from "../parts/states";
import { Records } from "./Records";

/** The ledger, cut to the records that one number counts. */
export function Counted({
  measure,
  since,
  until,
}: {
  measure: string;
  since: string | undefined;
  until: string | undefined;
}) {
  const pages = useInfiniteQuery(countedPages(measure, since, until));
  return (
    <>
      <PageHeader
        title={`Ledger: ${NAMES.get(measure) ?? measure}`}
        about={`Exactly the records that the number counts, ${stretch(since, until)}.`}
        actions={
          <>
            <Link to="/numbers" className={buttonClass("quiet")}>
              The numbers
            </Link>
            <Link to="/ledger" className={buttonClass("quiet")}>
              The whole ledger
            </Link>
          </>
        }
      />
      <div className="overflow-hidden rounded-card border border-line bg-surface">
        <Answer query={pages}>
          {(found) => {
            const records = found.pages.flatMap((page) => page.items);
            return records.length ? (
              <Records records={records} />
            ) : (
              <Empty title="Nothing was counted on these days" />
            );
          }}
        </Answer>
      </div>
      {pages.hasNextPage && (
        <div className="mt-3 text-center">
          <Button busy={pages.isFetchingNextPage} onClick={() => pages.fetchNextPage()}>
            Older records
          </Button>
        </div>
      )}
    </>
  );
}

function stretch(since: string | undefined, until: string | undefined): string {
  if (!since || !until) return "over the last days";
  if (since === until) return `on ${dayInWords(since)} (UTC)`;
  return `from ${dayInWords(since)} to ${dayInWords(until)} (UTC)`;
}
