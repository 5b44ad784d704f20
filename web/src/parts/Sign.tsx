import { useMutation, useQuery } from "@tanstack/react-query";
import { type ReactNode, useRef } from "react";
import { type Authority, passkeysWork, sign } from "../api/passkey";
import { passkeysQuery } from "../api/queries";
import { useKeys } from "../shell/keys";
import { Button } from "./Button";
import { Command } from "./Command";
import { Trouble } from "./states";

/**
 * How something is loosened: with a passkey where one is enrolled for this address, and always with
 * the command that asks for the passphrase in a terminal.
 */
export function Sign({
  action,
  content,
  send,
  command,
  disabled = false,
  brief = false,
  look = "main",
  hint,
  children,
}: {
  action: string;
  content: Record<string, unknown>;
  send: (authority: Authority) => Promise<unknown>;
  command: string;
  disabled?: boolean;
  /** Without a passkey, show only the command: what a terminal does was said beside another. */
  brief?: boolean;
  /** Not the plain blue of an ordinary yes, where something red stands beside it. */
  look?: "main" | "danger";
  hint?: string;
  children: ReactNode;
}) {
  const button = useRef<HTMLButtonElement>(null);
  const found = hint ? [{ keys: hint, does: "approve", run: () => button.current?.focus() }] : [];
  useKeys(found);
  const { data } = useQuery(passkeysQuery);
  const here = (data?.items ?? []).filter(
    (passkey) => !passkey.revoked_at && passkey.origin === location.origin,
  );
  const enrolled = here.length > 0;
  const decide = useMutation({ mutationFn: async () => send(await sign(action, content)) });
  if ((!enrolled || !passkeysWork()) && disabled) return null;
  if (!enrolled || !passkeysWork())
    return brief ? <Command line={command} /> : <Terminal command={command} />;
  return (
    <div className="space-y-2">
      <Button
        ref={button}
        look={look}
        className="w-full"
        {...(hint ? { hint } : {})}
        disabled={disabled}
        busy={decide.isPending}
        onClick={() => decide.mutate()}
      >
        {children}
      </Button>
      {decide.error && <Trouble error={decide.error} />}
      <SignedAs names={here.map((passkey) => passkey.operator)} />
      <details className="text-sm">
        <summary className="text-soft">or in a terminal</summary>
        <div className="mt-2">
          <Command line={command} />
        </div>
      </details>
    </div>
  );
}

/** Say as whom one signs, where that is not the owner alone: a passkey belongs to an operator. */
function SignedAs({ names }: { names: string[] }) {
  const operators = [...new Set(names)].sort();
  if (operators.join() === "owner") return null;
  return (
    <p className="text-sm text-soft">
      You sign as {operators.join(" or ")}
      {operators.length > 1 && ", whose passkey you use"}.
    </p>
  );
}

function Terminal({ command }: { command: string }) {
  return (
    <div className="space-y-2 text-sm">
      <p>
        In a terminal. It shows the same digest and asks for your passphrase, which is never typed
        into a page.
      </p>
      <Command line={command} />
      <details>
        <summary className="text-soft">Decide here next time</summary>
        <div className="mt-2 space-y-2">
          <p className="text-soft">Enrol a passkey for this browser or your phone:</p>
          <Command line="astra passkeys enroll" />
        </div>
      </details>
    </div>
  );
}
