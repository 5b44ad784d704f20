import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { answer, api } from "../api/client";
import type { LedgerRecord } from "../api/model";
import { kindQuery, ledgerPages, statusQuery } from "../api/queries";
import { Badge } from "../parts/Badge";
import { Button } from "../parts/Button";
import { Choice, Field } from "../parts/Field";
import { PageHeader } from "../parts/PageHeader";
import { Answer, Empty, Trouble } from "../parts/states";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";
import { Counted } from "./Counted";
import { FAMILIES, family, ROUTINE } from "./families";
import { Records } from "./Records";

export function LedgerPage() {
  const { measure, since, until } = useSearch({ from: "/ledger" });
  return measure ? <Counted measure={measure} since={since} until={until} /> : <Timeline />;
}

function Timeline() {
  const { type: chosen = "", all: routine = false } = useSearch({ from: "/ledger" });
  const navigate = useNavigate();
  const look = (type: string, all: boolean) =>
    void navigate({ to: "/ledger", search: { ...(type && { type }), ...(all && { all: true }) } });
  const exact = chosen !== "" && !FAMILIES.some(([name]) => name === chosen);
  const pages = useInfiniteQuery({ ...ledgerPages, enabled: !exact });
  const kind = useQuery({ ...kindQuery(chosen), enabled: exact });
  const shown = exact
    ? (kind.data?.items ?? [])
    : (pages.data?.pages ?? [])
        .flatMap((page) => page.items)
        .filter((record) => wanted(record, chosen, routine));
  return (
    <>
      <PageHeader
        title="Ledger"
        about="Everything that happened, in a chain where no record can be changed unnoticed."
        actions={<Verified />}
      />
      <div className="mb-3 flex flex-wrap items-end gap-3">
        <div className="w-48">
          <Choice
            label="What"
            value={chosen}
            onChange={(type) => look(type, routine)}
            options={[
              { value: "", name: "Everything" },
              ...FAMILIES.map(([name]) => ({ value: name, name })),
              ...(exact ? [{ value: chosen, name: chosen.replaceAll("_", " ") }] : []),
            ]}
          />
        </div>
        <StoryBox />
        <label className="flex min-h-9 items-center gap-2 text-sm">
          <input
            type="checkbox"
            checked={routine}
            onChange={(event) => look(chosen, event.target.checked)}
            className="size-4 accent-accent"
          />
          also reading and counting
        </label>
      </div>
      <div className="overflow-hidden rounded-card border border-line bg-surface">
        <Answer<unknown> query={exact ? kind : pages}>
          {() =>
            shown.length ? <Records records={shown} /> : <Empty title="No such records here yet" />
          }
        </Answer>
      </div>
      {!exact && pages.hasNextPage && (
        <div className="mt-3 text-center">
          <Button busy={pages.isFetchingNextPage} onClick={() => pages.fetchNextPage()}>
            Older records
          </Button>
        </div>
      )}
    </>
  );
}

function wanted(record: LedgerRecord, chosen: string, routine: boolean): boolean {
  if (!routine && ROUTINE.has(record.type)) return false;
  return !chosen || family(record.type) === chosen;
}

function StoryBox() {
  const navigate = useNavigate();
  const [id, setId] = useState("");
  return (
    <form
      className="w-56"
      onSubmit={(event) => {
        event.preventDefault();
        if (id.trim()) void navigate({ to: "/ledger/story/$id", params: { id: id.trim() } });
      }}
    >
      <Field
        label="Story of an id"
        placeholder="apr_… sch_… cor_…"
        value={id}
        onChange={(event) => setId(event.target.value)}
      />
    </form>
  );
}

/** Whether the chain was checked, when, and what came out; the terminal needs no daemon for it. */
function Verified() {
  const { data: status } = useQuery(statusQuery);
  const verify = useMutation({ mutationFn: () => answer(api.POST("/api/ledger/verify")) });
  const found = verify.data;
  return (
    <div className="flex flex-wrap items-center gap-2 text-sm text-soft">
      {verify.error && <Trouble error={verify.error} />}
      {found ? (
        <>
          <Badge tone={found.ok ? "good" : "bad"}>
            {found.ok ? "verified" : `${found.problems.length} problems`}
          </Badge>
          {found.records.toLocaleString("en")} records, <Time at={found.checked_at} />
        </>
      ) : (
        status && `${status.ledger.records.toLocaleString("en")} records, not verified yet`
      )}
      <Button busy={verify.isPending} onClick={() => verify.mutate()}>
        Verify now
      </Button>
      {found?.problems.map((problem) => (
        <p key={`${problem.kind}${problem.sequence}`} className="w-full text-bad">
          {problem.kind} at record {problem.sequence}: <Untrusted text={problem.detail} max={300} />
        </p>
      ))}
    </div>
  );
}
