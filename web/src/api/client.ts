import createClient, { type Middleware } from "openapi-fetch";
import { Problem } from "./problem";
import type { components, paths } from "./schema";
import { keep, proof } from "./session";

type Refusal = components["schemas"]["Problem"];

const isProblem = (response: Response): boolean =>
  response.headers.get("content-type")?.startsWith("application/problem+json") ?? false;

/** A one-time code that does not count (any more) says nothing about the session. */
const takesCode = (url: string): boolean =>
  url.endsWith("/api/session") || url.includes("/api/passkeys/enrolments/");

const credentials: Middleware = {
  onRequest({ request }) {
    for (const [name, value] of Object.entries(proof())) request.headers.set(name, value);
    return request;
  },
  async onResponse({ response, request }) {
    if (response.ok && !isProblem(response)) return response;
    if (response.status === 401 && !takesCode(request.url)) keep(null);
    const body: unknown = await response.json().catch(() => ({}));
    throw new Problem(response.status, body as Record<string, unknown>);
  },
  onError({ error }) {
    return error instanceof Problem ? error : Problem.unreachable();
  },
};

export const api = createClient<paths>({
  baseUrl: globalThis.location?.origin ?? "",
  fetch: (request) => globalThis.fetch(request),
});
api.use(credentials);

/**
 * Take the answer out of its envelope. A refusal was thrown before it came here, also the kind that
 * says "wait for approval" and is no failure to HTTP.
 */
export async function answer<T>(asked: Promise<{ data?: T }>): Promise<Exclude<T, Refusal>> {
  return (await asked).data as Exclude<T, Refusal>;
}
