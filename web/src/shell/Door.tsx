import {
  lazy,
  type ReactNode,
  Suspense,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { answer, api } from "../api/client";
import { feed } from "../api/events";
import { Problem } from "../api/problem";
import { queryClient, touched } from "../api/queries";
import { askOtherTabs, keep, session, subscribe, takeCode } from "../api/session";

const Enroll = lazy(async () => ({ default: (await import("./Enroll")).Enroll }));
const SignIn = lazy(async () => ({ default: (await import("./SignIn")).SignIn }));
const GATHER_MS = 150;
const enrolment = takeCode("/enroll");

/** Lets a person in by a login link or another tab of theirs, and keeps what they see fresh. */
export function Door({ children }: { children: ReactNode }) {
  const known = useSyncExternalStore(subscribe, session);
  const [state, setState] = useState<"asking" | "out" | "ended">("asking");
  const [problem, setProblem] = useState<Problem | null>(null);
  const wasIn = useRef(false);

  useEffect(() => {
    enter()
      .catch((error: unknown) => setProblem(Problem.of(error)))
      .finally(() => setState((now) => (now === "asking" ? "out" : now)));
  }, []);

  useEffect(() => {
    if (known) {
      wasIn.current = true;
      return keepFresh();
    }
    if (wasIn.current) setState("ended");
    return undefined;
  }, [known]);

  if (known && !enrolment) return children;
  if (state === "asking" && !enrolment) return null;
  return (
    <Suspense>
      {enrolment ? (
        <Enroll code={enrolment} />
      ) : (
        <SignIn ended={state === "ended"} problem={problem} />
      )}
    </Suspense>
  );
}

let entering: Promise<void> | null = null;

/** A login code counts once, so it is exchanged once, however often the page is drawn. */
function enter(): Promise<void> {
  entering ??= exchange();
  return entering;
}

async function exchange(): Promise<void> {
  const code = takeCode("/login");
  if (code) {
    const { session: made, secret } = await answer(api.POST("/api/session", { body: { code } }));
    keep({ ...made, secret });
  } else {
    await askOtherTabs();
  }
}

/** Follow the ledger; what a record touches is asked for again, a moment later and once. */
function keepFresh(): () => void {
  let waiting = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | null = null;
  const flush = () => {
    const keys = waiting;
    waiting = new Set();
    timer = null;
    for (const key of keys) void queryClient.invalidateQueries({ queryKey: [key] });
  };
  const unsubscribe = feed.onRecords((records) => {
    for (const key of touched(records.map((record) => record.type))) waiting.add(key);
    if (waiting.size > 0) timer ??= setTimeout(flush, GATHER_MS);
  });
  const unwatch = feed.onLink(() => {
    if (feed.link === "live") void queryClient.invalidateQueries();
  });
  const hurry = () => feed.hurry();
  addEventListener("online", hurry);
  addEventListener("offline", hurry);
  feed.start();
  return () => {
    unsubscribe();
    unwatch();
    removeEventListener("online", hurry);
    removeEventListener("offline", hurry);
    if (timer) clearTimeout(timer);
    feed.stop();
    queryClient.clear();
  };
}
