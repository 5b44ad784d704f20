import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { answer, api } from "../api/client";
import { enroll, enterEnrolled, isEnrolled, logIn, passkeysWork } from "../api/passkey";
import { inbox } from "../pages/waiting";
import { Button } from "../parts/Button";
import { Trouble } from "../parts/states";
import { Mark } from "./Nav";

const LOOK_AGAIN_MS = 1000;
/** How long "Done" can be read before the page goes on. */
const READ_MS = 2000;

/** Where the link of `astra passkeys enroll` leads: make a passkey, compare six digits, done. */
export function Enroll({ code }: { code: string }) {
  const make = useMutation({ mutationFn: () => enroll(code) });
  const digits = make.data;
  // Not the query's own data: coming in clears the cache, and the code counts once.
  const [signed, setSigned] = useState(false);
  const { data } = useQuery({
    queryKey: ["enrolment", code],
    queryFn: () => isEnrolled(code),
    enabled: digits !== undefined && !signed,
    refetchInterval: (query) => (query.state.data || query.state.error ? false : LOOK_AGAIN_MS),
    retry: false,
  });
  useEffect(() => {
    if (data) setSigned(true);
  }, [data]);
  if (signed) return <Done code={code} />;
  return (
    <main className="mx-auto flex min-h-dvh max-w-md flex-col justify-center gap-4 px-6 py-10">
      <div className="flex items-center gap-2 text-lg font-semibold">
        <Mark />
        Astra
      </div>
      <h1 className="text-xl font-semibold tracking-tight">
        {digits ? "Compare with the terminal" : "Make a passkey"}
      </h1>
      {digits ? (
        <>
          <p className="rounded-lg bg-raised py-4 text-center font-mono text-3xl tracking-widest">
            {digits.slice(0, 3)} {digits.slice(3)}
          </p>
          <p className="text-soft">
            If the terminal shows the same digits, confirm there. Your passkey counts once you have
            signed it with your passphrase.
          </p>
        </>
      ) : (
        <>
          <p className="text-soft">
            With a passkey you approve on this page: by fingerprint, face, or a security key. The
            terminal asks you to confirm it.
          </p>
          <Button
            look="main"
            busy={make.isPending}
            disabled={!passkeysWork()}
            onClick={() => make.mutate()}
          >
            Make a passkey on this device
          </Button>
          {!passkeysWork() && <p className="text-sm text-warn">This browser knows no passkeys.</p>}
          {make.error && <Trouble error={make.error} />}
        </>
      )}
    </main>
  );
}

/** The terminal has signed: say so, come in, and lead on to what waits first. */
function Done({ code }: { code: string }) {
  const enter = useMutation({
    mutationFn: (way: () => Promise<void>) => way().then(findFirst),
    onSuccess: (place) => setTimeout(() => globalThis.location.assign(place), READ_MS),
  });
  const { mutate } = enter;
  useEffect(() => mutate(() => enterEnrolled(code)), [mutate, code]);
  return (
    <main className="mx-auto flex min-h-dvh max-w-md flex-col justify-center gap-4 px-6 py-10">
      <div className="flex items-center gap-2 text-lg font-semibold">
        <Mark />
        Astra
      </div>
      <h1 className="text-xl font-semibold tracking-tight">Done</h1>
      <p className="text-soft" role="status">
        This passkey counts: you can approve on the page with it from now on.
        {enter.data && " You are in; next is what waits for you."}
      </p>
      {enter.error && (
        <>
          <Button look="main" onClick={() => mutate(logIn)}>
            Come in with a passkey
          </Button>
          <Trouble error={enter.error} />
        </>
      )}
    </main>
  );
}

/** The place of the request that ends first; without one, the inbox. */
async function findFirst(): Promise<string> {
  const { items } = await answer(api.GET("/api/inbox"));
  return inbox(items).find((item) => item.ages)?.place ?? "/";
}
