/** Goals, their graphs, and what a person does with them. */

import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "./client";
import { sign } from "./passkey";
import type { components, paths } from "./schema";

type Schemas = components["schemas"];

export type Goal = Schemas["GoalDetails"];
export type GoalBody = paths["/api/goals"]["post"]["requestBody"]["content"]["application/json"];
export type GoalBrief = Schemas["GoalAnswer"];
export type GoalTask = Schemas["GoalTask"];
export type GoalGraph = Schemas["GoalGraph"];

const one = (identifier: string) => ({ params: { path: { identifier } } });

export const goalQuery = (identifier: string) =>
  queryOptions({
    queryKey: ["goals", "one", identifier],
    queryFn: () => answer(api.GET("/api/goals/{identifier}", one(identifier))),
  });
export const goalGraphQuery = (identifier: string) =>
  queryOptions({
    queryKey: ["goals", "graph", identifier],
    queryFn: () => answer(api.GET("/api/goals/{identifier}/graph", one(identifier))),
  });

export type Move = "run" | "pause" | "close" | "reopen";

/** Do to a goal what takes no signature. */
export function moveGoal(identifier: string, move: Move): Promise<unknown> {
  switch (move) {
    case "run":
      return answer(api.POST("/api/goals/{identifier}/run", one(identifier)));
    case "pause":
      return answer(api.POST("/api/goals/{identifier}/pause", one(identifier)));
    case "close":
      return answer(api.POST("/api/goals/{identifier}/close", one(identifier)));
    case "reopen":
      return answer(api.POST("/api/goals/{identifier}/reopen", one(identifier)));
  }
}

export const retryGoal = (identifier: string, node: string | null): Promise<unknown> =>
  answer(api.POST("/api/goals/{identifier}/retry", { ...one(identifier), body: { node } }));

export const abandonGoal = (identifier: string, reason: string): Promise<unknown> =>
  answer(api.POST("/api/goals/{identifier}/abandon", { ...one(identifier), body: { reason } }));

export const askForAdoption = (identifier: string) =>
  answer(api.POST("/api/goals/{identifier}/approval", one(identifier)));

/** Propose a goal; unless it is signed, it counts as proposed by an agent. */
export async function createGoal(body: GoalBody, signs: boolean): Promise<Goal> {
  if (!signs) return answer(api.POST("/api/goals", { body }));
  const content = await answer(api.POST("/api/goals/content", { body }));
  const authority = await sign("goal_created", content);
  return answer(api.POST("/api/goals", { body: { ...(content as GoalBody), authority } }));
}
