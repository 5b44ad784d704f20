import { useQueries, useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { Change } from "../api/changes";
import {
  type Goal,
  type GoalGraph,
  type GoalTask,
  goalGraphQuery,
  goalQuery,
  retryGoal,
} from "../api/goals";
import { changeQuery } from "../api/queries";
import { Badge, StateBadge } from "../parts/Badge";
import { Button } from "../parts/Button";
import { Card, Fact, Facts } from "../parts/Card";
import { Flow } from "../parts/Flow";
import { Gauge } from "../parts/Gauge";
import { StoryLink } from "../parts/Id";
import { PageHeader } from "../parts/PageHeader";
import { Answer, Trouble } from "../parts/states";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";
import { oneLine } from "../parts/visible";
import { changeNodes, node, taskNodes } from "../review/graph";
import { journey } from "../review/journey";
import { useRecords } from "../review/Way";
import { Control, useGoalMutation } from "./Control";
import { Shape } from "./Shape";
import { TaskGraph } from "./TaskGraph";
import {
  budgetsOf,
  canRetry,
  changesOf,
  costOf,
  criteriaOf,
  nameOf,
  originOf,
  toneOfTask,
} from "./words";

export function GoalPage() {
  const { id } = useParams({ from: "/goals/$id" });
  return (
    <Answer whole query={useQuery(goalQuery(id))}>
      {(goal) => <Shown goal={goal} />}
    </Answer>
  );
}

function Shown({ goal }: { goal: Goal }) {
  const planned = goal.tasks.length > 0;
  const graph = useQuery({ ...goalGraphQuery(goal.id), enabled: planned });
  return (
    <>
      <PageHeader
        title={goal.text}
        about={
          <>
            {goal.category.replaceAll("_", " ")}, {goal.task.replaceAll("_", " ")}, proposed{" "}
            {originOf(goal.source)} <Time at={goal.created_at} />
          </>
        }
        actions={
          <>
            {graph.data?.proposed_by === "model" && <Badge tone="warn">proposed by a model</Badge>}
            <StateBadge state={goal.state} />
          </>
        }
      />
      <div className="grid gap-4 lg:grid-cols-[1fr_21rem]">
        <div className="min-w-0 space-y-4">
          {planned && <Answer query={graph}>{(found) => <TaskGraph graph={found} />}</Answer>}
          <WholeWay goal={goal} />
          {planned && <Tasks goal={goal} />}
          {graph.data && <Manifest graph={graph.data} />}
        </div>
        <div className="space-y-4 max-lg:order-first lg:sticky lg:top-16 lg:self-start">
          <Control goal={goal} />
          <Budgets goal={goal} />
          <Criteria goal={goal} />
          <About goal={goal} />
        </div>
      </div>
    </>
  );
}

/** From the desire to the rollback in one picture; a line for each change that came of it. */
function WholeWay({ goal }: { goal: Goal }) {
  const ids = changesOf(goal.tasks);
  const changes = useQueries({ queries: ids.map((id) => changeQuery(id)) });
  const found = changes.flatMap(({ data }) => (data ? [data] : []));
  return (
    <Card title="The whole way">
      {found.length === 0 ? (
        <Flow nodes={beginning(goal)} label="The whole way" />
      ) : (
        <div className="space-y-4">
          {found.map((change) => (
            <WayOfChange key={change.id} goal={goal} change={change} />
          ))}
        </div>
      )}
    </Card>
  );
}

function WayOfChange({ goal, change }: { goal: Goal; change: Change }) {
  const own = changeNodes(change, journey(change, useRecords(change)));
  const nodes = [...beginning(goal), ...own];
  return <Flow nodes={nodes} label={`The whole way of ${change.id}`} />;
}

const STATE_TONES = { satisfied: "good", abandoned: "plain", blocked: "warn" } as const;

function beginning(goal: Goal) {
  const tone = STATE_TONES[goal.state as keyof typeof STATE_TONES] ?? "accent";
  return [
    ...(goal.desire_id ? [node("desire", "wanted", "good", `/desires/${goal.desire_id}`)] : []),
    node("goal", goal.state, tone, `/ledger/story/${goal.id}`),
    ...taskNodes(goal.tasks),
  ];
}

function Tasks({ goal }: { goal: Goal }) {
  return (
    <Card title="Tasks" padded={false}>
      <ol>
        {goal.tasks.map((task) => (
          <Task key={task.id} goal={goal} task={task} />
        ))}
      </ol>
    </Card>
  );
}

function Task({ goal, task }: { goal: Goal; task: GoalTask }) {
  const retry = useGoalMutation(goal, () => retryGoal(goal.id, task.id));
  return (
    <li className="border-b border-line px-4 py-3 last:border-b-0">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Badge tone={toneOfTask(task.state)}>
          <Shape state={task.state} className="size-3" />
          {task.state}
        </Badge>
        <span className="min-w-0 flex-1 basis-48 font-medium">
          <Untrusted text={task.title} max={160} />
        </span>
        <span className="text-sm text-soft">{costOf(task)}</span>
        {canRetry(goal, task) && (
          <Button
            look="quiet"
            className="min-h-7 px-2 py-0"
            aria-label={`Retry from here: ${oneLine(nameOf(task), 60)}`}
            busy={retry.isPending}
            onClick={() => retry.mutate()}
          >
            Retry from here
          </Button>
        )}
      </div>
      {(task.detail || task.waits_on) && (
        <p className="mt-1 text-sm text-soft">
          {task.waits_on && <WaitsOn id={task.waits_on} />}
          <Untrusted text={`${task.reason ? `${task.reason}: ` : ""}${task.detail}`} max={400} />
        </p>
      )}
      <p className="mt-0.5 text-sm text-soft">
        <StoryLink id={task.id}>its records</StoryLink>
      </p>
      {retry.error && <Trouble error={retry.error} />}
    </li>
  );
}

const PLACES: [prefix: string, page: string][] = [
  ["chg_", "/changes/"],
  ["apr_", "/approvals/"],
  ["plan_", "/plans/"],
];

/** What a task waits for, with the page where somebody decides on it. */
function WaitsOn({ id }: { id: string }) {
  const page = PLACES.find(([prefix]) => id.startsWith(prefix))?.[1];
  if (!page) return null;
  return (
    <>
      <Link to={`${page}${id}`} className="text-accent underline">
        {id}
      </Link>
      {", "}
    </>
  );
}

function Budgets({ goal }: { goal: Goal }) {
  return (
    <Card title="Budgets">
      <ul className="grid grid-cols-3 gap-2 text-center">
        {budgetsOf(goal).map(({ name, value, max }) => (
          <li key={name} className="flex flex-col items-center">
            <Gauge value={value} max={max} label={name} />
            <span className="text-xs text-soft">
              of {max.toLocaleString("en")} {name}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Criteria({ goal }: { goal: Goal }) {
  const criteria = criteriaOf(goal);
  return (
    <Card title="Success criteria">
      <ul className="space-y-2 text-sm">
        {criteria.map(({ text, holds, detail }) => (
          <li key={text}>
            <span className="flex items-start gap-2">
              <Badge tone={holds === null ? "plain" : holds ? "good" : "bad"}>
                {holds === null ? "not run" : holds ? "holds" : "does not hold"}
              </Badge>
              <Untrusted text={text} max={300} />
            </span>
            {detail && <Untrusted text={detail} max={300} block className="text-soft" />}
          </li>
        ))}
        {criteria.length === 0 && <li className="text-soft">None: you close it yourself.</li>}
      </ul>
    </Card>
  );
}

function About({ goal }: { goal: Goal }) {
  return (
    <Card title="About it">
      <Facts>
        {goal.desire_id && (
          <Fact name="Desire">
            <Link
              to="/desires/$id"
              params={{ id: goal.desire_id }}
              className="text-accent underline"
            >
              the desire it came from
            </Link>
          </Fact>
        )}
        {goal.parent && (
          <Fact name="Serves">
            <Link to="/goals/$id" params={{ id: goal.parent }} className="text-accent underline">
              {goal.parent}
            </Link>
          </Fact>
        )}
        {goal.deadline && (
          <Fact name="Deadline">
            <Time at={goal.deadline} />
          </Fact>
        )}
        <Fact name="Priority">{goal.priority}</Fact>
        <Fact name="Records">
          <StoryLink id={goal.id}>the story of this goal</StoryLink>
        </Fact>
      </Facts>
    </Card>
  );
}

/** What the signature covers besides the graph: what tasks may call, and what will still ask. */
function Manifest({ graph }: { graph: GoalGraph }) {
  return (
    <Card title="What its tasks may call">
      <Facts>
        <Fact name="Tools">
          <Untrusted text={(graph.manifest.tools ?? []).join(", ") || "none"} max={1_000} />
        </Fact>
        <Fact name="Planned by">
          {graph.proposed_by === "model" ? "a model's proposal" : "methods"}:{" "}
          <Untrusted text={graph.method} max={100} />
        </Fact>
        <Fact name="Will still ask">
          <ul className="list-disc pl-4">
            {graph.will_still_ask.map((question) => (
              <li key={question}>
                <Untrusted text={question} max={300} />
              </li>
            ))}
            {graph.will_still_ask.length === 0 && <li>nothing</li>}
          </ul>
        </Fact>
      </Facts>
    </Card>
  );
}
