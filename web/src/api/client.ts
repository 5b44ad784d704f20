import createClient, { type Middleware } from "openapi-fetch";
import { Problem } from "./problem";
import type { paths } from "./schema";
import { keep, session } from "./session";

const credentials: Middleware = {
  onRequest({ request }) {
    const known = session();
    if (known) request.headers.set("Authorization", `Bearer ${known.token}`);
    return request;
  },
  async onResponse({ response, request }) {
    if (response.ok) return response;
    if (response.status === 401 && !request.url.endsWith("/api/session")) keep(null);
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

/** Take the answer out of its envelope. A failure was thrown before it came here. */
export async function answer<T>(asked: Promise<{ data?: unknown }>): Promise<T> {
  return (await asked).data as T;
}
