import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
} from "@tanstack/react-router";
import { Inbox } from "./pages/Inbox";
import { Lost, Wrong } from "./pages/Lost";
import { Shell } from "./shell/Shell";

const root = createRootRoute({ component: Shell, notFoundComponent: Lost, errorComponent: Wrong });
const text = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;
const whole = (value: unknown): number | undefined =>
  Number.isInteger(value) ? (value as number) : undefined;

const at = <P extends string>(
  path: P,
  load: () => Promise<Record<string, unknown>>,
  name: string,
) =>
  createRoute({
    getParentRoute: () => root,
    path,
    component: lazyRouteComponent(load as never, name as never),
  });

export const inboxRoute = createRoute({ getParentRoute: () => root, path: "/", component: Inbox });
export const approvalRoute = at("/approvals/$id", () => import("./pages/Approval"), "Approval");
export const decidedRoute = at("/approvals", () => import("./pages/Decided"), "Decided");
export const changesRoute = createRoute({
  getParentRoute: () => root,
  path: "/changes",
  validateSearch: (search): { state?: string | undefined } => ({ state: text(search.state) }),
  component: lazyRouteComponent(() => import("./pages/Changes"), "Changes"),
});
export const changeRoute = at("/changes/$id", () => import("./review/Review"), "ReviewPage");
export const tasksRoute = at("/tasks", () => import("./pages/Tasks"), "Tasks");
export const plansRoute = at("/plans", () => import("./plans/Plans"), "Plans");
export const planRoute = at("/plans/$id", () => import("./plans/PlanPage"), "PlanPage");
export const releasesRoute = at("/releases", () => import("./pages/Releases"), "Releases");
export const goalsRoute = at("/goals", () => import("./goals/Goals"), "Goals");
export const goalRoute = at("/goals/$id", () => import("./goals/GoalPage"), "GoalPage");
export const desiresRoute = at("/desires", () => import("./pages/Desires"), "Desires");
export const desireRoute = at("/desires/$id", () => import("./pages/Desire"), "DesirePage");
export const researchRoute = at("/research", () => import("./pages/Research"), "Research");
export const sessionRoute = at(
  "/research/$id",
  () => import("./pages/ResearchSession"),
  "ResearchSession",
);
export const beliefsRoute = at("/beliefs", () => import("./pages/Beliefs"), "Beliefs");
export const beliefRoute = at("/beliefs/$id", () => import("./pages/Belief"), "BeliefPage");
export const schedulesRoute = at("/schedules", () => import("./pages/Schedules"), "Schedules");
export const newScheduleRoute = at(
  "/schedules/new",
  () => import("./schedules/NewSchedule"),
  "NewSchedule",
);
export const editScheduleRoute = at(
  "/schedules/$id/edit",
  () => import("./schedules/EditSchedule"),
  "EditSchedule",
);
export const scheduleRoute = at("/schedules/$id", () => import("./pages/Schedule"), "SchedulePage");
export const chatRoute = createRoute({
  getParentRoute: () => root,
  path: "/chat",
  validateSearch: (search): { with?: string | undefined } => ({ with: text(search.with) }),
  component: lazyRouteComponent(() => import("./chat/Chat"), "Chat"),
});
/** Which records: of a family or type, or those that a number counts on some days. */
type LedgerSearch = {
  type?: string | undefined;
  all?: true | undefined;
  measure?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
};
export const ledgerRoute = createRoute({
  getParentRoute: () => root,
  path: "/ledger",
  validateSearch: (search): LedgerSearch => ({
    type: text(search.type),
    all: search.all === true ? true : undefined,
    measure: text(search.measure),
    since: text(search.since),
    until: text(search.until),
  }),
  component: lazyRouteComponent(() => import("./pages/Ledger"), "LedgerPage"),
});
export const numbersRoute = createRoute({
  getParentRoute: () => root,
  path: "/numbers",
  validateSearch: (search): { days?: number | undefined } => ({ days: whole(search.days) }),
  component: lazyRouteComponent(() => import("./numbers/Numbers"), "Numbers"),
});
export const storyRoute = at("/ledger/story/$id", () => import("./pages/Story"), "Story");
export const alertsRoute = at("/alerts", () => import("./pages/Alerts"), "Alerts");
export const permissionsRoute = at(
  "/permissions",
  () => import("./permissions/Permissions"),
  "Permissions",
);
export const safetyRoute = at("/safety", () => import("./pages/Safety"), "Safety");
export const statusRoute = at("/status", () => import("./pages/Status"), "StatusPage");

const tree = root.addChildren([
  inboxRoute,
  approvalRoute,
  decidedRoute,
  changesRoute,
  changeRoute,
  tasksRoute,
  plansRoute,
  planRoute,
  releasesRoute,
  goalsRoute,
  goalRoute,
  desiresRoute,
  desireRoute,
  researchRoute,
  sessionRoute,
  beliefsRoute,
  beliefRoute,
  schedulesRoute,
  newScheduleRoute,
  scheduleRoute,
  chatRoute,
  editScheduleRoute,
  ledgerRoute,
  storyRoute,
  numbersRoute,
  alertsRoute,
  permissionsRoute,
  safetyRoute,
  statusRoute,
]);

export const router = createRouter({ routeTree: tree, defaultPreload: "intent" });

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
