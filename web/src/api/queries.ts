/** Every question a page asks, with the key under which its answer is kept. */

import { infiniteQueryOptions, QueryClient, queryOptions } from "@tanstack/react-query";
import type { Change } from "./changes";
import { answer, api } from "./client";
import { Problem } from "./problem";
import type { paths } from "./schema";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      retry: (count, error) => Problem.of(error).status === 0 && count < 2,
    },
  },
});

const one = (identifier: string) => ({ params: { path: { identifier } } });

export const statusQuery = queryOptions({
  queryKey: ["status"],
  queryFn: () => answer(api.GET("/api/status")),
  refetchInterval: 60_000,
});
/** The last quick check of the running server. */
export const smokeQuery = queryOptions({
  queryKey: ["smoke"],
  queryFn: () => answer(api.GET("/api/smoke")),
});
/** What is raised, and what every rule compares. */
export const alertsQuery = queryOptions({
  queryKey: ["alerts"],
  queryFn: () => answer(api.GET("/api/alerts")),
  refetchInterval: 60_000,
});
export const stopQuery = queryOptions({
  queryKey: ["stop"],
  queryFn: () => answer(api.GET("/api/stop")),
});
/** Everything that waits for a person, as every door lists and counts it. */
export const inboxQuery = queryOptions({
  queryKey: ["inbox"],
  queryFn: () => answer(api.GET("/api/inbox")),
  refetchInterval: 60_000,
});
type ApprovalState = NonNullable<
  NonNullable<paths["/api/approvals"]["get"]["parameters"]["query"]>["state"]
>;

/** What waits, the oldest first; or the latest of what there was, in the same order. */
async function approvals(state: ApprovalState) {
  const newest = state !== "pending";
  const found = await answer(api.GET("/api/approvals", { params: { query: { state, newest } } }));
  return newest ? { ...found, items: found.items.toReversed() } : found;
}

export const approvalsQuery = (state: ApprovalState) =>
  queryOptions({
    queryKey: ["approvals", state],
    queryFn: () => approvals(state),
  });
export const approvalQuery = (identifier: string) =>
  queryOptions({
    queryKey: ["approvals", "one", identifier],
    queryFn: () => answer(api.GET("/api/approvals/{identifier}", one(identifier))),
  });
export const desiresQuery = (query: { search?: string; faded?: boolean; limit?: number }) =>
  queryOptions({
    queryKey: ["desires", query],
    queryFn: () => answer(api.GET("/api/desires", { params: { query } })),
  });
export const desireQuery = (identifier: string) =>
  queryOptions({
    queryKey: ["desires", "one", identifier],
    queryFn: () => answer(api.GET("/api/desires/{identifier}", one(identifier))),
  });
export const suggestionsQuery = queryOptions({
  queryKey: ["desires", "suggestions"],
  queryFn: () => answer(api.GET("/api/desires/suggestions")),
});
export const halfLifeQuery = queryOptions({
  queryKey: ["desires", "half-life"],
  queryFn: async () => {
    const query = { type: "desire_half_life_set", last: 1 };
    const page = await answer(api.GET("/api/ledger", { params: { query } }));
    return Number(page.items.at(-1)?.data.days ?? 14);
  },
});
export const beliefsQuery = (proposed: boolean) =>
  queryOptions({
    queryKey: ["beliefs", { proposed }],
    queryFn: () => answer(api.GET("/api/beliefs", { params: { query: { limit: 100, proposed } } })),
  });
export const beliefQuery = (identifier: string) =>
  queryOptions({
    queryKey: ["beliefs", "one", identifier],
    queryFn: () => answer(api.GET("/api/beliefs/{identifier}", one(identifier))),
  });
export const goalsQuery = queryOptions({
  queryKey: ["goals"],
  queryFn: () => answer(api.GET("/api/goals")),
});
export const researchListQuery = queryOptions({
  queryKey: ["research"],
  queryFn: () => answer(api.GET("/api/research")),
});
export const researchQuery = (identifier: string) =>
  queryOptions({
    queryKey: ["research", "one", identifier],
    queryFn: () => answer(api.GET("/api/research/{identifier}", one(identifier))),
  });
export const schedulesQuery = queryOptions({
  queryKey: ["schedules"],
  queryFn: () => answer(api.GET("/api/schedules")),
});
export const explainQuery = (cron_expression: string, timezone: string) =>
  queryOptions({
    queryKey: ["explain", cron_expression, timezone],
    queryFn: () =>
      answer(
        api.GET("/api/schedules/explain", { params: { query: { cron_expression, timezone } } }),
      ),
    placeholderData: (before) => before,
    retry: false,
  });
export const scheduleQuery = (identifier: string) =>
  queryOptions({
    queryKey: ["schedules", "one", identifier],
    queryFn: () => answer(api.GET("/api/schedules/{identifier}", one(identifier))),
  });
export const historyQuery = (identifier: string, limit: number) =>
  queryOptions({
    queryKey: ["schedules", "history", identifier, limit],
    queryFn: () =>
      answer(
        api.GET("/api/schedules/{identifier}/history", {
          params: { path: { identifier }, query: { limit } },
        }),
      ),
  });
/** Changes, the newest first, a page at a time; of one state, or all. */
export const changePages = (state: string) =>
  infiniteQueryOptions({
    queryKey: ["changes", "pages", state],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam: cursor }) => {
      const query = { limit: 50, ...(state && { state }), ...(cursor && { cursor }) };
      return answer(api.GET("/api/changes", { params: { query } }));
    },
    getNextPageParam: (page) => (page.next === null ? null : String(page.next ?? "") || null),
  });
export const changeQuery = (identifier: string) =>
  queryOptions({
    queryKey: ["changes", "one", identifier],
    queryFn: async () =>
      (await answer(api.GET("/api/changes/{identifier}", one(identifier)))) as unknown as Change,
  });
/** What matters before somebody signs for a change, as the server says it to every door. */
export const decisionFactsQuery = (identifier: string) =>
  queryOptions({
    queryKey: ["changes", "decision", identifier],
    queryFn: () => answer(api.GET("/api/changes/{identifier}/decision", one(identifier))),
  });
/** What is live against what would be live after a deployment. */
export const liveDifferenceQuery = queryOptions({
  queryKey: ["releases", "difference"],
  queryFn: () => answer(api.GET("/api/deployments/order/difference")),
  retry: false,
});
export const diffQuery = (identifier: string, commit: string) =>
  queryOptions({
    queryKey: ["diff", identifier, commit],
    queryFn: () => answer(api.GET("/api/changes/{identifier}/diff", one(identifier))),
    staleTime: Number.POSITIVE_INFINITY,
  });
export const linesQuery = (
  identifier: string,
  commit: string,
  query: { path: string; start: number; end: number },
) =>
  queryOptions({
    queryKey: ["lines", identifier, commit, query],
    queryFn: () =>
      answer(
        api.GET("/api/changes/{identifier}/lines", { params: { path: { identifier }, query } }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });
export const passkeysQuery = queryOptions({
  queryKey: ["passkeys"],
  queryFn: () => answer(api.GET("/api/passkeys")),
});
export const operatorsQuery = queryOptions({
  queryKey: ["operators"],
  queryFn: () => answer(api.GET("/api/operators")),
});
export const flagsQuery = queryOptions({
  queryKey: ["flags"],
  queryFn: () => answer(api.GET("/api/flags")),
});
export const toolsQuery = queryOptions({
  queryKey: ["tools"],
  queryFn: () => answer(api.GET("/api/tools")),
});
export const configurationQuery = queryOptions({
  queryKey: ["config"],
  queryFn: () => answer(api.GET("/api/config")),
});
export const storyQuery = (identifier: string) =>
  queryOptions({
    queryKey: ["ledger", "story", identifier],
    queryFn: () => answer(api.GET("/api/ledger/story/{identifier}", one(identifier))),
  });

const PAGE = 200;

/** The ledger from its end backwards, a page at a time. */
export const ledgerPages = infiniteQueryOptions({
  queryKey: ["ledger", "pages"],
  initialPageParam: null as number | null,
  queryFn: async ({ pageParam: before }) => {
    const query =
      before === null
        ? { last: PAGE }
        : { after: Math.max(before - 1 - PAGE, 0), limit: Math.min(PAGE, before - 1) };
    const page = await answer(api.GET("/api/ledger", { params: { query } }));
    return { items: page.items.toReversed() };
  },
  getNextPageParam: (page) => {
    const oldest = page.items.at(-1)?.sequence ?? 1;
    return oldest > 1 ? oldest : null;
  },
});

/** The newest records of one kind: what a number on another page counts. */
export const kindQuery = (type: string) =>
  queryOptions({
    queryKey: ["ledger", "kind", type],
    queryFn: async () => {
      const query = { last: PAGE, type };
      const page = await answer(api.GET("/api/ledger", { params: { query } }));
      return { items: page.items.toReversed() };
    },
  });
/** How desires rose, asked for again when one does and not with every record. */
export const desireRecordsQuery = (type: "desire_recorded" | "desire_reinforced") =>
  queryOptions({
    queryKey: ["desires", "records", type],
    queryFn: () => answer(api.GET("/api/ledger", { params: { query: { last: PAGE, type } } })),
  });
export const numbersQuery = (days: number) =>
  queryOptions({
    queryKey: ["numbers", "days", days],
    queryFn: () => answer(api.GET("/api/metrics", { params: { query: { days } } })),
    placeholderData: (before) => before,
  });

/** The records that a number counts, the newest first, a page at a time. */
export const countedPages = (name: string, since?: string, until?: string) =>
  infiniteQueryOptions({
    queryKey: ["numbers", "counted", name, since, until],
    initialPageParam: null as number | null,
    queryFn: ({ pageParam: cursor }) => {
      const span = { ...(since && { since }), ...(until && { until }) };
      const query = { limit: PAGE, ...span, ...(cursor !== null && { cursor }) };
      return answer(api.GET("/api/metrics/{name}", { params: { path: { name }, query } }));
    },
    getNextPageParam: (page) => (typeof page.next === "number" ? page.next : null),
  });
export const taskPages = infiniteQueryOptions({
  queryKey: ["tasks"],
  initialPageParam: null as string | null,
  queryFn: ({ pageParam }) =>
    answer(
      api.GET("/api/tasks", {
        params: { query: { limit: 50, ...(pageParam ? { cursor: pageParam } : {}) } },
      }),
    ),
  getNextPageParam: (page) => (page.next === null ? null : String(page.next ?? "") || null),
});

const TOUCHED: [prefix: string, keys: string[]][] = [
  ["approval_", ["approvals", "status"]],
  ["schedule_", ["schedules", "status"]],
  ["desire", ["desires"]],
  ["passkey_", ["passkeys"]],
  ["research_", ["research"]],
  ["goal_", ["goals", "tasks", "beliefs"]],
  ["belief_", ["beliefs"]],
  ["code_modification_", ["beliefs"]],
  ["tests_completed", ["beliefs"]],
  ["deployment_settled", ["beliefs"]],
  ["schedule_firing_closed", ["beliefs"]],
  ["chat_", ["chat"]],
  ["flag_", ["flags", "status", "tools", "chat"]],
  ["config_", ["config", "status", "chat"]],
  ["agent_", ["agents", "status"]],
  ["agent_global_grant", ["grants"]],
  ["merge_permission_", ["permissions"]],
  ["standing_permission_", ["permissions"]],
  ["change_", ["changes", "status"]],
  ["code_modification_", ["changes", "status"]],
  ["smoke_finished", ["smoke", "status", "alerts"]],
  ["alert_", ["alerts", "inbox"]],
  ["tests_", ["changes", "status"]],
  ["task_", ["tasks"]],
  ["approval_", ["changes"]],
  ["release_", ["releases", "status"]],
  ["deploy", ["releases", "status"]],
  ["fleet_", ["releases"]],
  ["rollback", ["releases", "status"]],
  ["app_", ["releases", "status"]],
  ["work_", ["stop", "status", "chat"]],
  ["budget_", ["status"]],
  ...["tool_", "approval_", "code_", "change_", "tests_", "deploy", "budget_", "agent_"].map(
    (prefix): [string, string[]] => [prefix, ["numbers"]],
  ),
  ["schedule_firing_", ["numbers", "tasks"]],
  ...[
    "approval_",
    "agent_",
    "change_",
    "code_",
    "tests_",
    "deploy",
    "rollback",
    "app_",
    "config_",
    "goal_",
  ].map((prefix): [string, string[]] => [prefix, ["inbox"]]),
];

/**
 * Name what records make old. Reading is recorded too; it touches only the numbers, whose own
 * reading is not, or pages would loop.
 */
export function touched(types: Iterable<string>): Set<string> {
  const keys = new Set<string>();
  for (const type of types) {
    for (const [prefix, names] of TOUCHED) {
      if (type.startsWith(prefix)) for (const name of names) keys.add(name);
    }
    if (type !== "tool_called") keys.add("ledger");
  }
  return keys;
}
