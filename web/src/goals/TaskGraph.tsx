import { Link } from "@tanstack/react-router";
import type { GoalGraph, GoalTask } from "../api/goals";
import type { Tone } from "../parts/Badge";
import { Card } from "../parts/Card";
import { oneLine } from "../parts/visible";
import { BOX, type Line, type Placed, pictureOf } from "./layout";
import { Shape } from "./Shape";
import { costOf, nameOf, toneOfTask } from "./words";

const LOOKS: Record<Tone, string> = {
  plain: "border-line-strong bg-surface",
  accent: "border-accent bg-accent-wash",
  good: "border-good bg-good-wash",
  warn: "border-warn bg-warn-wash",
  bad: "border-bad bg-bad-wash",
};
const INKS: Record<Tone, string> = {
  plain: "text-soft",
  accent: "text-accent",
  good: "text-good",
  warn: "text-warn",
  bad: "text-bad",
};
/** The form of a box says its state as well: dashed is to come, square is broken, round waits. */
const CORNERS: Record<string, string> = {
  pending: "rounded-lg border-dashed",
  skipped: "rounded-lg border-dotted",
  waiting: "rounded-3xl",
  failed: "rounded-none border-4",
};

/** The graph of a goal as it stands: each box leads to the records of its task. */
export function TaskGraph({ graph }: { graph: GoalGraph }) {
  const picture = pictureOf(graph.nodes, graph.edges);
  return (
    <Card title="The graph of its tasks" padded={false}>
      <section
        aria-label="Graph of tasks"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what is wider than the page is scrolled by keyboard
        tabIndex={0}
        className="max-h-[36rem] overflow-auto p-4"
      >
        <div
          className="relative mx-auto"
          style={{ width: `${picture.width}px`, height: `${picture.height}px` }}
        >
          <svg
            aria-hidden="true"
            className="absolute inset-0 overflow-visible"
            width={picture.width}
            height={picture.height}
          >
            <Arrowheads />
            {picture.lines.map((line) => (
              <Edge key={line.key} line={line} />
            ))}
          </svg>
          <ol>
            {picture.boxes.map((box) => (
              <Box key={box.task.id} box={box} />
            ))}
          </ol>
        </div>
      </section>
      <Legend />
    </Card>
  );
}

function Box({ box: { task, x, y } }: { box: Placed }) {
  const tone = toneOfTask(task.state);
  const corners = CORNERS[task.state] ?? "rounded-lg";
  const style = {
    left: `${x}px`,
    top: `${y}px`,
    width: `${BOX.width}px`,
    height: `${BOX.height}px`,
  };
  return (
    <li className="absolute" style={style}>
      <Link
        to="/ledger/story/$id"
        params={{ id: task.id }}
        title={oneLine(task.title, 300)}
        className={`flex h-full flex-col overflow-hidden border-2 px-2.5 py-1.5 hover:brightness-[0.97] ${LOOKS[tone]} ${corners}`}
      >
        <span className={`flex items-center gap-1.5 text-xs font-semibold ${INKS[tone]}`}>
          <Shape state={task.state} />
          {task.state}
          <span className="ml-auto font-normal text-ink">{shortKind(task)}</span>
        </span>
        <span className="mt-0.5 line-clamp-2 text-sm leading-tight font-medium [overflow-wrap:anywhere]">
          <bdi>{oneLine(nameOf(task), 60)}</bdi>
        </span>
        <span className="mt-auto truncate text-xs text-ink">{costOf(task) || waitsFor(task)}</span>
      </Link>
    </li>
  );
}

const shortKind = (task: GoalTask): string => task.kind.replaceAll("_", " ").toLowerCase();
const waitsFor = (task: GoalTask): string => (task.waits_on ? `for ${task.waits_on}` : "");

function Edge({ line }: { line: Line }) {
  const look = line.broken || line.ahead ? "var(--bad)" : "var(--line-strong)";
  return (
    <path
      d={line.path}
      fill="none"
      stroke={look}
      strokeWidth={line.broken ? 3 : 2}
      markerEnd={`url(#${line.broken || line.ahead ? "arrow-bad" : "arrow"})`}
      {...(line.ahead ? { strokeDasharray: "5 5" } : {})}
    />
  );
}

function Arrowheads() {
  return (
    <defs>
      {(["arrow", "arrow-bad"] as const).map((id) => (
        <marker
          key={id}
          id={id}
          viewBox="0 0 8 8"
          refX="5"
          refY="4"
          markerWidth="9"
          markerHeight="9"
          markerUnits="userSpaceOnUse"
          orient="auto"
        >
          <path d="M0 0l8 4l-8 4z" fill={id === "arrow" ? "var(--line-strong)" : "var(--bad)"} />
        </marker>
      ))}
    </defs>
  );
}

const STATES = ["pending", "running", "waiting", "succeeded", "failed", "skipped"];

function Legend() {
  return (
    <p className="flex flex-wrap gap-x-4 gap-y-1 border-t border-line px-4 py-2 text-xs">
      {STATES.map((state) => (
        <span key={state} className={`flex items-center gap-1 ${INKS[toneOfTask(state)]}`}>
          <Shape state={state} className="size-3" />
          {state}
        </span>
      ))}
    </p>
  );
}
