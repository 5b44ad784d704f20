// Preloaded into the conformance suite, which has no option for headers: adds the bearer token to
// every HTTP request, below fetch and undici, and changes nothing else.
import { createRequire } from "node:module";

const { Agent, setGlobalDispatcher } = createRequire(process.argv[1])("undici");
const authorization = `Bearer ${process.env.CONFORMANCE_TOKEN}`;

const added = (headers) =>
  Array.isArray(headers)
    ? [...headers, "authorization", authorization]
    : { ...Object.fromEntries(headers?.entries?.() ?? Object.entries(headers ?? {})), authorization };

setGlobalDispatcher(
  new Agent().compose(
    (dispatch) => (options, handler) =>
      dispatch({ ...options, headers: added(options.headers) }, handler),
  ),
);
