import { expect, test } from "vitest";
import type { GoalTask } from "../api/goals";
import { BOX, failedPath, pictureOf } from "./layout";

const task = (id: string, state = "pending"): GoalTask =>
  ({ id, state, path: `top/${id}` }) as GoalTask;
const edge = (from: string, to: string) => ({ from, to });
const DIAMOND = [edge("a", "l"), edge("a", "r"), edge("l", "z"), edge("r", "z")];
const TASKS = ["a", "l", "r", "z"].map((id) => task(id));

test("a task stands below all that it waits for, and no two stand in one place", () => {
  const { boxes } = pictureOf(TASKS, [...DIAMOND, edge("a", "z")]);
  const row = Object.fromEntries(
    boxes.map(({ task: { id }, y }) => [id, y / (BOX.height + BOX.down)]),
  );
  expect(row).toEqual({ a: 0, l: 1, r: 1, z: 2 });
  expect(new Set(boxes.map(({ x, y }) => `${x} ${y}`)).size).toBe(4);
});

test("the picture holds every box and draws every edge", () => {
  const { boxes, lines, width, height } = pictureOf(TASKS, DIAMOND);
  expect(lines).toHaveLength(4);
  for (const { x, y } of boxes) {
    expect(x).toBeGreaterThanOrEqual(0);
    expect(x + BOX.width).toBeLessThanOrEqual(width);
    expect(y + BOX.height).toBeLessThanOrEqual(height);
  }
});

test("the path that failed leads to the failure, and what lies behind it is cut off", () => {
  const { led, cut } = failedPath([task("a"), task("l", "failed"), task("r"), task("z")], DIAMOND);
  expect([...led]).toEqual(["a l"]);
  expect([...cut]).toEqual(["l z"]);
});

test("what went on in spite of a failure is not cut off", () => {
  const tasks = [task("a"), task("l", "failed"), task("r", "succeeded"), task("z", "waiting")];
  expect([...failedPath(tasks, DIAMOND).cut]).toEqual([]);
});

test("a graph without failures has no broken edge", () => {
  expect(pictureOf(TASKS, DIAMOND).lines.some(({ broken, ahead }) => broken || ahead)).toBe(false);
});

test("five hundred tasks in a row are placed, one below the other", () => {
  const many = Array.from({ length: 500 }, (_, at) => task(`n${at}`));
  const edges = many.slice(1).map(({ id }, at) => edge(`n${at}`, id));
  const { boxes } = pictureOf(many, edges);
  expect(boxes.at(-1)?.y).toBe(499 * (BOX.height + BOX.down));
});
