import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { abandonGoal, askForAdoption, type Goal, moveGoal, retryGoal } from "../api/goals";
import { approvalQuery, approvalsQuery } from "../api/queries";
import { Approve } from "../pages/Approval";
import { Button } from "../parts/Button";
import { Card } from "../parts/Card";
import { Field } from "../parts/Field";
import { Digest } from "../parts/Id";
import { Answer, Trouble } from "../parts/states";
import { Untrusted } from "../parts/Untrusted";
import { useKeys } from "../shell/keys";
import { adoptable, type Move, movesOf, standstill } from "./words";

/** What a person can do with a goal in its state. Less is free; more takes a signature. */
export function Control({ goal }: { goal: Goal }) {
  const why = standstill(goal);
  const over = ["satisfied", "abandoned"].includes(goal.state);
  const failed = goal.held === "task_failed";
  return (
    <Card title={adoptable(goal) ? "Your decision" : "Control"}>
      <div className="space-y-4">
        {why && <p className="font-medium text-warn">{why}</p>}
        {goal.why && (
          <p className="text-sm">
            <Untrusted text={goal.why} max={600} />
          </p>
        )}
        {adoptable(goal) && <Adopt goal={goal} />}
        {failed && (
          <Act goal={goal} name="Retry what failed" act={() => retryGoal(goal.id, null)} />
        )}
        {movesOf(goal).map((each) => (
          <Free key={each.move} goal={goal} move={each} />
        ))}
        {!over && <Abandon goal={goal} />}
      </div>
    </Card>
  );
}

/** One signature adopts the goal, its graph, what its tasks may call, and its budgets. */
function Adopt({ goal }: { goal: Goal }) {
  const pending = useQuery(approvalsQuery("pending"));
  const asked = pending.data?.items.find(
    ({ kind, subject_id }) => kind === "goal" && subject_id === goal.id,
  );
  const found = useQuery({ ...approvalQuery(asked?.id ?? ""), enabled: asked !== undefined });
  if (!asked) return <Ask goal={goal} />;
  return (
    <Answer query={found} rows={1}>
      {(approval) => (
        <div className="space-y-2">
          <p className="text-sm text-soft">
            You adopt exactly this goal, this graph, what its tasks may call and these budgets:{" "}
            <Digest value={approval.digest} />.{" "}
            <Link
              to="/approvals/$id"
              params={{ id: approval.id }}
              className="text-accent underline"
            >
              Read all of it
            </Link>
          </p>
          <Approve found={approval} />
        </div>
      )}
    </Answer>
  );
}

/** When a request expired or was withdrawn, nothing waits: ask for what is there now. */
function Ask({ goal }: { goal: Goal }) {
  return (
    <Act
      goal={goal}
      name="Decide on it as it is now"
      look="main"
      act={() => askForAdoption(goal.id)}
    />
  );
}

function Free({ goal, move: { move, name, about } }: { goal: Goal; move: Move }) {
  return <Act goal={goal} name={name} about={about} act={() => moveGoal(goal.id, move)} />;
}

export function Act({
  goal,
  name,
  about = "",
  look = "plain",
  act,
}: {
  goal: Goal;
  name: string;
  about?: string;
  look?: "plain" | "main";
  act: () => Promise<unknown>;
}) {
  const run = useGoalMutation(goal, act);
  return (
    <div className="space-y-1">
      <Button look={look} className="w-full" busy={run.isPending} onClick={() => run.mutate()}>
        {name}
      </Button>
      {about && <p className="text-sm text-soft">{about}</p>}
      {run.error && <Trouble error={run.error} />}
    </div>
  );
}

export function useGoalMutation(goal: Goal, act: () => Promise<unknown>) {
  const client = useQueryClient();
  return useMutation({
    mutationKey: ["goals", goal.id],
    mutationFn: act,
    onSettled: () =>
      Promise.all(
        [["goals"], ["approvals"]].map((queryKey) => client.invalidateQueries({ queryKey })),
      ),
  });
}

function Abandon({ goal }: { goal: Goal }) {
  const [reason, setReason] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useKeys([{ keys: "x", does: "abandon, with a reason", run: () => field.current?.focus() }]);
  const abandon = useGoalMutation(goal, () => abandonGoal(goal.id, reason.trim()));
  return (
    <form
      className="space-y-2 border-t border-line pt-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (reason.trim()) abandon.mutate();
      }}
    >
      <Field
        label="Abandon it, and say why"
        ref={field}
        value={reason}
        maxLength={1_000}
        onChange={(event) => setReason(event.target.value)}
      />
      {abandon.error && <Trouble error={abandon.error} />}
      <Button
        type="submit"
        look="danger"
        hint="x"
        busy={abandon.isPending}
        disabled={!reason.trim()}
      >
        Abandon
      </Button>
    </form>
  );
}
