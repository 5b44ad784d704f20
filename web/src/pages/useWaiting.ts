import { useQuery } from "@tanstack/react-query";
import { waitingPlansQuery } from "../api/plans";
import { approvalsQuery } from "../api/queries";
import { useNow } from "../parts/Time";
import { inbox, type Waits } from "./waiting";

/** What waits for a person now, wherever it is shown or counted. */
export function useWaiting(): Waits[] {
  const { data: approvals } = useQuery(approvalsQuery("pending"));
  const { data: plans } = useQuery(waitingPlansQuery);
  return inbox(approvals?.items ?? [], plans?.items ?? [], useNow());
}
