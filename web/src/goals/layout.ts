/**
 * Where the tasks of a graph stand: in layers, each below all that it waits for; in a layer, each
 * near those above it. Pure, and the same graph always gets the same picture.
 */

import type { GoalGraph, GoalTask } from "../api/goals";

export const BOX = { width: 184, height: 84, across: 24, down: 44 };

export type Placed = { task: GoalTask; x: number; y: number };
export type Line = { key: string; path: string; broken: boolean; ahead: boolean };
export type Picture = { boxes: Placed[]; lines: Line[]; width: number; height: number };

type Edge = GoalGraph["edges"][number];

export function pictureOf(nodes: GoalTask[], edges: Edge[]): Picture {
  const layers = layersOf(nodes, edges);
  const widest = Math.max(...layers.map((layer) => layer.length), 1);
  const step = { x: BOX.width + BOX.across, y: BOX.height + BOX.down };
  const boxes = layers.flatMap((layer, row) =>
    layer.map((task, column) => ({
      task,
      x: ((widest - layer.length) / 2 + column) * step.x,
      y: row * step.y,
    })),
  );
  return {
    boxes,
    lines: linesOf(boxes, edges),
    width: widest * step.x - BOX.across,
    height: layers.length * step.y - BOX.down,
  };
}

/** Tasks by how many lie above them on the longest way; nodes come behind those they wait for. */
function layersOf(nodes: GoalTask[], edges: Edge[]): GoalTask[][] {
  const above = groupBefore(edges);
  const depth = new Map<string, number>();
  for (const { id } of nodes) {
    const before = (above.get(id) ?? []).map((each) => depth.get(each) ?? 0);
    depth.set(id, before.length ? Math.max(...before) + 1 : 0);
  }
  const layers: GoalTask[][] = [];
  for (const task of nodes) {
    const row = depth.get(task.id) ?? 0;
    layers[row] = [...(layers[row] ?? []), task];
  }
  return sorted(layers, above);
}

/** Put each task below the middle of those it waits for. */
function sorted(layers: GoalTask[][], above: Map<string, string[]>): GoalTask[][] {
  const column = new Map<string, number>();
  return layers.map((layer) => {
    const middle = (task: GoalTask, own: number): number => {
      const before = (above.get(task.id) ?? []).map((each) => column.get(each) ?? 0);
      return before.length ? before.reduce((sum, each) => sum + each, 0) / before.length : own;
    };
    const places = new Map(layer.map((task, own) => [task.id, middle(task, own)]));
    const ordered = layer.toSorted(
      (left, right) => (places.get(left.id) ?? 0) - (places.get(right.id) ?? 0),
    );
    ordered.forEach((task, at) => {
      column.set(task.id, at - (ordered.length - 1) / 2);
    });
    return ordered;
  });
}

function linesOf(boxes: Placed[], edges: Edge[]): Line[] {
  const placed = new Map(boxes.map((box) => [box.task.id, box]));
  const { led, cut } = failedPath(
    boxes.map(({ task }) => task),
    edges,
  );
  return edges.flatMap(({ from, to }) => {
    const source = placed.get(from);
    const target = placed.get(to);
    if (!source || !target) return [];
    const key = `${from} ${to}`;
    return [{ key, path: curve(source, target), broken: led.has(key), ahead: cut.has(key) }];
  });
}

function curve(source: Placed, target: Placed): string {
  const [x1, y1] = [source.x + BOX.width / 2, source.y + BOX.height];
  const [x2, y2] = [target.x + BOX.width / 2, target.y - 5];
  const bend = Math.min((y2 - y1) / 2, BOX.down);
  return `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`;
}

/** The edges that led to a task that failed, and those behind it that nothing went along. */
export function failedPath(
  tasks: Pick<GoalTask, "id" | "state">[],
  edges: Edge[],
): { led: Set<string>; cut: Set<string> } {
  const failed = tasks.filter(({ state }) => state === "failed").map(({ id }) => id);
  const back = walk(failed, groupBefore(edges));
  const idle = new Set(tasks.filter(({ state }) => NOT_BEGUN.has(state)).map(({ id }) => id));
  const toIdle = edges.filter(({ to }) => idle.has(to));
  const on = walk(failed, groupAfter(toIdle));
  const led = edges.filter(({ to }) => back.has(to));
  const cut = toIdle.filter(({ from }) => on.has(from));
  const keys = (found: Edge[]) => new Set(found.map(({ from, to }) => `${from} ${to}`));
  return { led: keys(led), cut: keys(cut) };
}

const NOT_BEGUN = new Set(["pending", "skipped"]);

function walk(starts: string[], ways: Map<string, string[]>): Set<string> {
  const reached = new Set(starts);
  const open = [...starts];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const next of ways.get(at) ?? []) {
      if (!reached.has(next)) {
        reached.add(next);
        open.push(next);
      }
    }
  }
  return reached;
}

const groupBefore = (edges: Edge[]): Map<string, string[]> =>
  grouped(edges.map(({ from, to }) => [to, from]));
const groupAfter = (edges: Edge[]): Map<string, string[]> =>
  grouped(edges.map(({ from, to }) => [from, to]));

function grouped(pairs: [string, string][]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const [key, value] of pairs) groups.set(key, [...(groups.get(key) ?? []), value]);
  return groups;
}
