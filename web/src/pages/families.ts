/** Which kind of thing a record is about. What it says comes with it, from the server. */

/** Reading and counting, which most people want to skip. */
export const ROUTINE: ReadonlySet<string> = new Set([
  "tool_called",
  "budget_spent",
  "approval_announced",
  "agent_step_started",
  "agent_step_decided",
  "agent_action_started",
  "agent_usage_counted",
  "agent_files_exported",
  "agent_global_grants_exported",
  "agent_notified",
]);

export const FAMILIES: [name: string, prefixes: string[]][] = [
  ["Decisions", ["approval_"]],
  ["Calls", ["tool_"]],
  ["Changes", ["change_", "code_modification_", "tests_", "task_", "dry_run_", "readiness_"]],
  ["Plans", ["agent_"]],
  ["Releases", ["release_", "deployment_", "rollback_", "commit_", "app_"]],
  ["Schedules", ["schedule_"]],
  ["Desires and goals", ["desire", "goal_", "idle_"]],
  ["Sandbox", ["box_", "egress_", "sandbox_"]],
  ["Servers", ["server_"]],
  ["Notifications", ["notification_", "device_"]],
  ["Operation", ["alert_", "smoke_"]],
  ["Safety", ["flag_", "config_", "operator_", "work_", "token_", "session_", "passkey_", "data_"]],
];

export function family(type: string): string {
  const found = FAMILIES.find(([, prefixes]) => prefixes.some((prefix) => type.startsWith(prefix)));
  return found?.[0] ?? "Other";
}
