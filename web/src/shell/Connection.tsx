import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useSyncExternalStore } from "react";
import { feed, type Link as State } from "../api/events";
import { statusQuery } from "../api/queries";
import { Button } from "../parts/Button";
import { useNow } from "../parts/Time";
import { span } from "../parts/time";

export function useLink(): State {
  return useSyncExternalStore(
    (watcher) => feed.onLink(watcher),
    () => feed.link,
  );
}

const WORDS: Record<State, string> = {
  connecting: "Connecting",
  live: "Live",
  broken: "Reconnecting",
  offline: "Offline",
};
const DOTS: Record<State, string> = {
  connecting: "bg-line-strong",
  live: "bg-good",
  broken: "bg-warn",
  offline: "bg-bad",
};

/** Whether what is shown is how things are, and whether the agent may work. */
export function ConnectionPill() {
  const link = useLink();
  const { data: status } = useQuery(statusQuery);
  const work = status?.stopped ? "stopped" : status ? "agent may work" : "";
  return (
    <Link
      to="/status"
      className="flex min-h-9 items-center gap-2 rounded-lg px-2 text-sm text-soft hover:bg-raised hover:text-ink"
    >
      <span aria-hidden="true" className={`size-2 rounded-full ${DOTS[link]}`} />
      <span role="status">
        {WORDS[link]}
        {work && <span className="max-sm:sr-only"> · {work}</span>}
      </span>
    </Link>
  );
}

/** A band over the page while it may be out of date. */
export function DisconnectedBand() {
  const link = useLink();
  const now = useNow();
  if (link === "live" || link === "connecting") return null;
  const why = link === "offline" ? "This device is offline." : "Astra does not answer.";
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-warn/30 bg-warn-wash px-4 py-2 text-sm text-warn"
    >
      <span>
        {why} You see how things were {span(Math.max(now - feed.since, 0))} ago; what you missed
        comes when it is back.
      </span>
      <Button
        look="quiet"
        className="min-h-7 px-2 text-warn underline"
        onClick={() => feed.hurry()}
      >
        Try now
      </Button>
    </div>
  );
}
