// Preloaded into the conformance suite, which has no option for headers: adds the bearer token to
// every HTTP request, below fetch and undici and in node's own client, and changes nothing else.
import http from "node:http";
import { createRequire, syncBuiltinESMExports } from "node:module";

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

const plainRequest = http.request;
http.request = (...asked) => {
  const request = plainRequest(...asked);
  request.setHeader("authorization", authorization);
  return request;
};
syncBuiltinESMExports();
