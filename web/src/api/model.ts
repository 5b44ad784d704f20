/** What the pages show: names for the types that the server describes. */

import type { components } from "./schema";

type Schemas = components["schemas"];

export type Alert = Schemas["AlertShown"];
export type AlertRule = Schemas["AlertRuleShown"];
export type SmokeReport = Schemas["SmokeReport"];
export type Signatures = Schemas["SignaturesShown"];
export type OperatorListed = Schemas["OperatorListed"];
export type Approval = Schemas["ApprovalShown"];
export type InboxItem = Schemas["InboxItemShown"];
export type ApprovalDetails = Schemas["ApprovalDetails"];
export type Payload = Schemas["Payload"];
export type Desire = Schemas["DesireShown"];
export type ResearchBrief = Schemas["ResearchBrief"];
export type ResearchShown = Schemas["ResearchShown"];
export type ResearchFinding = Schemas["FindingAnswer"];
export type Belief = Schemas["BeliefAnswer"];
export type BeliefDetails = Schemas["BeliefDetails"];
export type BeliefDay = Schemas["BeliefDay"];
export type Numbers = Schemas["Numbers"];
export type Series = Schemas["Series"];
export type BudgetDays = Schemas["BudgetDays"];
export type Schedule = Schemas["ScheduleShown"];
export type Firing = Schemas["FiringShown"];
export type Flag = Schemas["FlagShown"];
export type LedgerRecord = Schemas["RecordShown"];
export type Session = Schemas["Session"];
export type Status = Schemas["Status"];
export type Task = Schemas["TaskAnswer"];
export type Tool = Schemas["ToolShown"];

/** What a call would touch; it travels inside an approval's open details. */
export type Footprint = {
  destructive?: boolean;
  domains?: string[];
  files?: string[];
  read_paths?: string[];
  skills?: string[];
  write_paths?: string[];
};
