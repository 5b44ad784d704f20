import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { approvalsQuery } from "../api/queries";
import { StateBadge } from "../parts/Badge";
import { PageHeader } from "../parts/PageHeader";
import { Answer, Empty } from "../parts/states";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";
import { kindInWords } from "./waiting";

export function Decided() {
  const all = useQuery(approvalsQuery("all"));
  return (
    <>
      <PageHeader title="Decisions" about="Every request there was, and what became of it." />
      <section className="overflow-hidden rounded-card border border-line bg-surface">
        <Answer query={all}>
          {(page) =>
            page.items.length === 0 ? (
              <Empty title="Nobody has asked for anything yet" />
            ) : (
              <ul>
                {page.items.toReversed().map((item) => (
                  <li
                    key={item.id}
                    className="relative flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-4 py-2.5 last:border-b-0 hover:bg-raised/60"
                  >
                    <Link
                      to="/approvals/$id"
                      params={{ id: item.id }}
                      className="min-w-0 flex-1 basis-64 after:absolute after:inset-0"
                    >
                      <Untrusted text={item.summary} max={160} />
                      {item.reason && (
                        <span className="block text-sm text-soft">
                          because: <Untrusted text={item.reason} max={160} />
                        </span>
                      )}
                    </Link>
                    <span className="text-sm text-soft">{kindInWords(item.kind)}</span>
                    <StateBadge state={item.state} />
                    <Time at={item.requested_at} className="text-sm text-soft" />
                  </li>
                ))}
              </ul>
            )
          }
        </Answer>
      </section>
    </>
  );
}
