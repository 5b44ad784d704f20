/** Standing permissions: what may happen so often, until then, without a signature each time. */

import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "./client";
import type { components } from "./schema";

type Schemas = components["schemas"];

export type CallPermission = Schemas["PermissionShown"];
export type MergePermission = Schemas["MergePermissionShown"];
export type MergeScope = Schemas["MergeScope"];

export const callPermissionsQuery = queryOptions({
  queryKey: ["permissions", "calls"],
  queryFn: () => answer(api.GET("/api/permissions")),
});
export const mergePermissionsQuery = queryOptions({
  queryKey: ["permissions", "changes"],
  queryFn: () => answer(api.GET("/api/merge-permissions")),
});

const one = (identifier: string) => ({ params: { path: { identifier } } });

export const removeCallPermission = (identifier: string): Promise<unknown> =>
  answer(api.DELETE("/api/permissions/{identifier}", one(identifier)));

export const removeMergePermission = (identifier: string): Promise<unknown> =>
  answer(api.DELETE("/api/merge-permissions/{identifier}", one(identifier)));
