import { useMutation } from "@tanstack/react-query";
import { enroll, passkeysWork } from "../api/passkey";
import { Button } from "../parts/Button";
import { Trouble } from "../parts/states";
import { Mark } from "./Nav";

/** Where the link of `astra passkeys enroll` leads: make a passkey, then compare six digits. */
export function Enroll({ code }: { code: string }) {
  const make = useMutation({ mutationFn: () => enroll(code) });
  const digits = make.data;
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
