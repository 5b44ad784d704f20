import { useMutation } from "@tanstack/react-query";
import { logIn, passkeysWork } from "../api/passkey";
import type { Problem } from "../api/problem";
import { Button } from "../parts/Button";
import { Command } from "../parts/Command";
import { Trouble } from "../parts/states";
import { Mark } from "./Nav";
import { DOCS } from "./places";

export function SignIn({ ended, problem }: { ended: boolean; problem: Problem | null }) {
  const passkey = useMutation({ mutationFn: logIn });
  const trouble = passkey.error ?? problem;
  return (
    <main className="mx-auto flex min-h-dvh max-w-md flex-col justify-center gap-4 px-6 py-10">
      <div className="flex items-center gap-2 text-lg font-semibold">
        <Mark />
        Astra
      </div>
      <h1 className="text-xl font-semibold tracking-tight">
        {ended ? "You are logged out" : "Come in through your terminal"}
      </h1>
      <p className="text-soft">
        Astra lets people in by a link that works once. Run this where Astra runs, and open the link
        it prints:
      </p>
      <Command line="astra login" />
      {passkeysWork() && (
        <>
          <p className="text-soft">Or, if you have enrolled a passkey here:</p>
          <Button look="main" busy={passkey.isPending} onClick={() => passkey.mutate()}>
            Come in with a passkey
          </Button>
        </>
      )}
      {trouble && <Trouble error={trouble} />}
      <p className="text-sm text-soft">
        A link lets you look, reject and stop. Approving takes your passkey, or your passphrase in
        the terminal; it is never typed into a page. <FirstSteps />
      </p>
    </main>
  );
}

function FirstSteps() {
  return (
    <a className="underline" href={`${DOCS}tutorial/first-steps.html`}>
      First steps
    </a>
  );
}
