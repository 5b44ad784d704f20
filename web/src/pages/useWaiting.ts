import { useQuery } from "@tanstack/react-query";
import { inboxQuery } from "../api/queries";
import { inbox, type Waits } from "./waiting";

/** What waits for a person now, wherever it is shown or counted. */
export function useWaiting(): Waits[] {
  const { data } = useQuery(inboxQuery);
  return inbox(data?.items ?? []);
}
