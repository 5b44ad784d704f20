import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { answer, api } from "../api/client";
import type { Schedule } from "../api/model";
import { Problem } from "../api/problem";
import { scheduleQuery } from "../api/queries";
import { Button, buttonClass } from "../parts/Button";
import { Card } from "../parts/Card";
import { PageHeader } from "../parts/PageHeader";
import { Answer } from "../parts/states";
import { Untrusted } from "../parts/Untrusted";
import {
  bodyOf,
  type Difference,
  differences,
  formOf,
  moved,
  needsNewApproval,
  onTopOf,
  type ScheduleChange,
} from "./form";
import { ScheduleForm, useTier } from "./ScheduleForm";

export function EditSchedule() {
  const { id } = useParams({ from: "/schedules/$id/edit" });
  return (
    <Answer whole query={useQuery(scheduleQuery(id))}>
      {(found) => <Editor key={found.id} now={found} />}
    </Answer>
  );
}

/** Edits of a schedule as it was when they began; `now` is how it is, which may be another. */
function Editor({ now }: { now: Schedule }) {
  const [base, setBase] = useState(now);
  const [form, setForm] = useState(() => formOf(now));
  const edit = useEdit(now.id);
  const tier = Math.max(useTier(form.target_tool), base.safety_tier);
  const changes = differences(base, form, tier);
  const mine = edit.isPending || edit.isSuccess; // then it is another because of what was sent
  const stale = now.etag !== base.etag && !mine;
  const begin = (kept: typeof form) => {
    setBase(now);
    setForm(kept);
    edit.reset();
  };
  return (
    <>
      <PageHeader
        title={`Edit ${now.name}`}
        about="Its id and its history stay. Only what you change is sent."
      />
      <ScheduleForm
        form={form}
        onChange={setForm}
        onSend={() => edit.mutate({ ...bodyOf(changes, form, tier), seen: base.etag })}
        send="Save the changes"
        busy={edit.isPending}
        ready={changes.length > 0 && !stale}
        error={stale ? null : edit.error}
        back={
          <Link to="/schedules/$id" params={{ id: now.id }} className={buttonClass("quiet")}>
            Leave it as it is
          </Link>
        }
      >
        {stale && (
          <Meanwhile
            theirs={moved(base, now)}
            error={edit.error}
            id={now.id}
            onKeep={() => begin(onTopOf(now, base, form))}
            onDrop={() => begin(formOf(now))}
          />
        )}
        <Changes changes={changes} />
      </ScheduleForm>
    </>
  );
}

/** Send edits. When somebody was first, look at it again: the page says what they did. */
function useEdit(identifier: string) {
  const client = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: (body: ScheduleChange) =>
      answer(api.POST("/api/schedules/{identifier}", { params: { path: { identifier } }, body })),
    onSettled: () => client.invalidateQueries({ queryKey: ["schedules"] }),
    onSuccess: () => navigate({ to: "/schedules/$id", params: { id: identifier } }),
  });
}

function Changes({ changes }: { changes: Difference[] }) {
  return (
    <Card title="What changes">
      {changes.length === 0 ? (
        <p className="text-sm text-soft">Nothing yet.</p>
      ) : (
        <>
          <Differences changes={changes} />
          {needsNewApproval(changes) && (
            <p className="mt-2 text-sm text-warn">
              An approval that waits or was given for it does not count any more.
            </p>
          )}
        </>
      )}
    </Card>
  );
}

function Differences({ changes }: { changes: Difference[] }) {
  return (
    <dl className="space-y-2 text-sm">
      {changes.map(({ field, label, before, after }) => (
        <div key={field}>
          <dt className="text-soft">{label}</dt>
          <dd className="[overflow-wrap:anywhere]">
            <del className="bg-removed px-1">
              <Untrusted text={before || "nothing"} max={300} />
            </del>{" "}
            <span aria-hidden="true">→</span>{" "}
            <ins className="bg-added px-1 no-underline">
              <Untrusted text={after || "nothing"} max={300} />
            </ins>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Somebody else changed it since these edits began: what they did, and the two ways on. */
function Meanwhile({
  theirs,
  error,
  id,
  onKeep,
  onDrop,
}: {
  theirs: Difference[];
  error: unknown;
  id: string;
  onKeep: () => void;
  onDrop: () => void;
}) {
  const said = error ? Problem.of(error) : null;
  return (
    <div role="alert" className="space-y-3 rounded-lg border border-warn/40 bg-warn-wash px-4 py-3">
      <p className="text-sm font-medium text-warn">
        It was changed since you began
        {said?.code === "changed_meanwhile" && (
          <>
            , by <Untrusted text={String(said.more.by)} max={60} />
          </>
        )}
        . Nothing of yours was saved over it.
      </p>
      <Differences changes={theirs} />
      <div className="flex flex-wrap items-center gap-2">
        <Button onClick={onKeep}>Put my edits on top of it</Button>
        <Button onClick={onDrop}>Start over from how it is now</Button>
        <Link to="/ledger/story/$id" params={{ id }} className="text-sm text-accent underline">
          who did it
        </Link>
      </div>
    </div>
  );
}
