/**
 * Passkeys: a person's presence, proven to the server. What is signed is the hash of the statement
 * that the server drafted, so the page checks that it says what was meant before asking.
 */

import { answer, api } from "./client";
import { Problem } from "./problem";
import { keep } from "./session";

export type Authority = Record<string, unknown>;

export const passkeysWork = (): boolean => "PublicKeyCredential" in globalThis;

/** Have the person sign a decision; gives what the decision is sent with. */
export async function sign(action: string, content: Record<string, unknown>): Promise<Authority> {
  const drafted = await answer(api.POST("/api/statements", { body: { action, content } }));
  const said = drafted.statement as { action?: unknown; content?: unknown };
  if (said.action !== action || !same(said.content, content)) {
    throw new Problem(0, {
      code: "another_statement",
      detail: "The server drafted something else than what you decided.",
      next_step: "Approve in a terminal instead, and look at logs/daemon.log.",
    });
  }
  const { id, response } = await asserted(drafted.options);
  return { statement: drafted.statement, key: drafted.passkeys[id], ...response };
}

/** Open a session with a passkey. */
export async function logIn(): Promise<void> {
  const options = await answer(api.POST("/api/session/challenge"));
  const { id, response } = await asserted(options);
  const body = { credential: id, ...response };
  const { session, secret } = await answer(api.POST("/api/session/passkey", { body }));
  keep({ ...session, secret });
}

/** Make a passkey for an enrolment that a terminal began; gives the digits to compare. */
export async function enroll(code: string): Promise<string> {
  const options = await answer(api.POST("/api/passkeys/enrolments/options", { body: { code } }));
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options as never);
  const made = (await attempted(navigator.credentials.create({ publicKey }))).toJSON();
  const { attestationObject, clientDataJSON } = made.response as Record<string, string>;
  const body = { code, client_data: clientDataJSON ?? "", attestation: attestationObject ?? "" };
  return (await answer(api.POST("/api/passkeys/enrolments/made", { body }))).check;
}

/** Tell whether the operator has signed for the passkey that was made from this link. */
export async function isEnrolled(code: string): Promise<boolean> {
  const outcome = answer(api.POST("/api/passkeys/enrolments/outcome", { body: { code } }));
  return (await outcome).enrolled;
}

/** Come in with the link of an enrolment that was signed for; it counts once. */
export async function enterEnrolled(code: string): Promise<void> {
  const opened = answer(api.POST("/api/passkeys/enrolments/session", { body: { code } }));
  const { session, secret } = await opened;
  keep({ ...session, secret });
}

type Asserted = {
  id: string;
  response: { signature: string; authenticator_data: string; client_data: string };
};

async function asserted(options: unknown): Promise<Asserted> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options as never);
  const made = (await attempted(navigator.credentials.get({ publicKey }))).toJSON();
  const said = made.response as Record<string, string>;
  return {
    id: made.id,
    response: {
      signature: said.signature ?? "",
      authenticator_data: said.authenticatorData ?? "",
      client_data: said.clientDataJSON ?? "",
    },
  };
}

async function attempted(asked: Promise<Credential | null>): Promise<PublicKeyCredential> {
  try {
    const made = await asked;
    if (made) return made as PublicKeyCredential;
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
  }
  throw new Problem(0, {
    code: "no_passkey",
    detail: "The passkey was not used.",
    next_step: "Try again, or decide in a terminal with the command shown.",
  });
}

function same(a: unknown, b: unknown): boolean {
  return sorted(a) === sorted(b);
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    inner && typeof inner === "object" && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
