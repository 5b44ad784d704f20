import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useDeferredValue, useRef, useState } from "react";
import { answer, api } from "../api/client";
import type { Desire } from "../api/model";
import { desiresQuery, goalsQuery, suggestionsQuery } from "../api/queries";
import { Badge } from "../parts/Badge";
import { Button } from "../parts/Button";
import { Card } from "../parts/Card";
import { Field } from "../parts/Field";
import { Meter } from "../parts/Meter";
import { PageHeader } from "../parts/PageHeader";
import { Answer, Empty } from "../parts/states";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";
import { useKeys } from "../shell/keys";
import { DesireCurves } from "./DesireCurves";

export function Desires() {
  const [search, setSearch] = useState("");
  const wanted = useDeferredValue(search.trim());
  const desires = useQuery(desiresQuery({ limit: 100, ...(wanted ? { search: wanted } : {}) }));
  const field = useRef<HTMLInputElement>(null);
  useKeys([{ keys: "/", does: "search", run: () => field.current?.focus() }]);
  return (
    <>
      <PageHeader
        title="Desires"
        about="What the agent would like, the strongest first. They fade by themselves; you can make a goal of one."
      />
      <div className="mb-3 max-w-sm">
        <Field
          label="Search desires"
          hidden
          ref={field}
          type="search"
          placeholder="Search"
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
      </div>
      <DesireCurves desires={desires.data?.items ?? []} />
      <div className="grid gap-4 lg:grid-cols-[1fr_20rem]">
        <section className="min-w-0 overflow-hidden rounded-card border border-line bg-surface">
          <Answer query={desires}>
            {(page) =>
              page.items.length === 0 ? (
                <Empty title={wanted ? "Nothing like that is wanted" : "No desires yet"}>
                  An agent records what it would like with the tool{" "}
                  <code className="font-mono">astra.desires.record</code>.
                </Empty>
              ) : (
                <ul>
                  {page.items.map((desire) => (
                    <Row key={desire.id} desire={desire} />
                  ))}
                </ul>
              )
            }
          </Answer>
        </section>
        <div className="space-y-4">
          <Suggestions />
          <Goals />
        </div>
      </div>
    </>
  );
}

function Row({ desire }: { desire: Desire }) {
  const strength = Math.round(desire.strength * 100);
  return (
    <li className="relative flex items-center gap-4 border-b border-line px-4 py-3 last:border-b-0 hover:bg-raised/60">
      <div className="w-14 shrink-0 text-right">
        <span className="text-sm font-semibold tabular-nums">{strength} %</span>
        <Meter value={strength} max={100} label="strength now, in percent" />
      </div>
      <div className="min-w-0 flex-1">
        <Link
          to="/desires/$id"
          params={{ id: desire.id }}
          className="font-medium after:absolute after:inset-0"
        >
          <Untrusted text={desire.text} max={180} />
        </Link>
        <p className="mt-0.5 flex flex-wrap items-center gap-x-2 gap-y-1 text-sm text-soft">
          <Time at={desire.reinforced_at ?? desire.recorded_at} />
          {desire.reinforcements > 0 && <span>· wanted {desire.reinforcements + 1} times</span>}
          {desire.goal_id && <Badge tone="good">a goal</Badge>}
          {desire.tags.map((tag) => (
            <Badge key={tag}>
              <Untrusted text={tag} max={40} />
            </Badge>
          ))}
        </p>
      </div>
      <Reinforce id={desire.id} />
    </li>
  );
}

export function Reinforce({ id }: { id: string }) {
  const client = useQueryClient();
  const reinforce = useMutation({
    mutationFn: () =>
      answer(
        api.POST("/api/desires/{identifier}/reinforce", {
          params: { path: { identifier: id } },
          body: {},
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: ["desires"] }),
  });
  return (
    <Button
      className="relative z-1 shrink-0"
      busy={reinforce.isPending}
      title="Adds to its strength; it fades from there"
      onClick={() => reinforce.mutate()}
    >
      Reinforce
    </Button>
  );
}

function Suggestions() {
  const found = useQuery(suggestionsQuery);
  return (
    <Card title="Might be worth a goal">
      <Answer query={found} rows={2}>
        {(page) =>
          page.items.length === 0 ? (
            <p className="text-sm text-soft">
              Nothing has been wanted strongly and often enough yet.
            </p>
          ) : (
            <ul className="space-y-2">
              {page.items.map(({ desire, evidence }) => (
                <li key={desire.id} className="text-sm">
                  <Link
                    to="/desires/$id"
                    params={{ id: desire.id }}
                    className="font-medium text-accent hover:underline"
                  >
                    <Untrusted text={desire.text} max={90} />
                  </Link>
                  <p className="text-soft">
                    <Untrusted text={evidence.why} max={200} />
                  </p>
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
    </Card>
  );
}

function Goals() {
  const goals = useQuery(goalsQuery);
  return (
    <Card title="Goals">
      <Answer query={goals} rows={2}>
        {(page) =>
          page.items.length === 0 ? (
            <p className="text-sm text-soft">You have made no goal of a desire yet.</p>
          ) : (
            <ul className="space-y-2 text-sm">
              {page.items.map((goal) => (
                <li key={goal.id}>
                  <Link
                    to="/goals/$id"
                    params={{ id: goal.id }}
                    className="text-accent hover:underline"
                  >
                    <Untrusted text={goal.text} max={120} />
                  </Link>{" "}
                  <Time at={goal.created_at} className="text-soft" />
                </li>
              ))}
            </ul>
          )
        }
      </Answer>
    </Card>
  );
}
