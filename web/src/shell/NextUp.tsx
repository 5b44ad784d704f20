import { Link, useNavigate, useRouterState } from "@tanstack/react-router";
import { useSyncExternalStore } from "react";
import { outbox } from "../api/decisions";
import { useWaiting } from "../pages/useWaiting";
import { Key } from "../parts/Button";
import { Untrusted } from "../parts/Untrusted";
import { useKeys } from "./keys";

/** The next thing that waits, so that deciding goes on without the way back to the list. */
export function NextUp() {
  const navigate = useNavigate();
  const here = useRouterState({ select: (state) => state.location.pathname });
  const going = useSyncExternalStore(outbox.watch, () => outbox.items);
  const decided = new Set(going.map(({ identifier }) => identifier));
  const [next, ...others] = useWaiting().filter(
    ({ id, place }) =>
      place !== here && !decided.has(id) && !decided.has(place.split("/")[2] ?? ""),
  );
  useKeys(
    next
      ? [{ keys: "n", does: "next thing that waits", run: () => void navigate({ to: next.place }) }]
      : [],
  );
  if (!next) {
    return (
      <p className="text-sm text-soft">
        Nothing else waits for you.{" "}
        <Link to="/" className="inline-block min-h-[24px] text-accent underline">
          Back to the inbox
        </Link>
      </p>
    );
  }
  return (
    <p className="text-sm">
      Next:{" "}
      <Link to={next.place} className="inline-block min-h-[24px] font-medium text-accent underline">
        <Untrusted text={next.title} max={100} inButton />
      </Link>{" "}
      <Key name="n" />
      {others.length > 0 && (
        <span className="text-soft">
          {" "}
          and {others.length} {others.length === 1 ? "other" : "others"}
        </span>
      )}
    </p>
  );
}
