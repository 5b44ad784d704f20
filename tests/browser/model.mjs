// A model on loopback that says what a story wants in OpenAI's dialect: a form filled in, or talk.
import { createServer } from "node:http";

export class Model {
  /** `say` makes the next answer of what the model was told so far. */
  static async make(say) {
    const model = new Model();
    model.say = say;
    model.server = createServer((request, response) => {
      const chunks = [];
      request.on("data", (chunk) => chunks.push(chunk));
      request.on("end", async () => {
        const asked = JSON.parse(Buffer.concat(chunks).toString());
        const isForm = Boolean(asked.response_format);
        const pieces = () => (isForm ? [JSON.stringify(model.say(told(asked)))] : model.talk(told(asked)));
        if (asked.stream) return talk(response, asked, pieces());
        response.setHeader("Content-Type", "application/json");
        response.end(JSON.stringify(completion(asked, model.say(told(asked)))));
      });
    });
    await new Promise((ready) => model.server.listen(0, "127.0.0.1", ready));
    const { port } = model.server.address();
    model.environment = { ASTRA_MODEL: "scripted", ASTRA_MODEL_BASE_URL: `http://127.0.0.1:${port}/v1` };
    return model;
  }

  async end() {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }
}

export const sh = (script) => ({
  kind: "tool",
  tool: "run_in_sandbox",
  arguments: { command: ["sh", "-c", script] },
});
export const done = { kind: "done", output: "done" };

/** A command that wants a host which no plan here was granted. */
export const reaching = (host) =>
  sh(`python3 -c "import urllib.request as u; u.urlopen('http://${host}:8080/')"; true`);

/** Speak in chunks: pieces of text, calls of tools, and pauses until a promise is kept. */
async function talk(response, asked, pieces) {
  response.setHeader("Content-Type", "text/event-stream");
  const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: asked.model };
  const send = (choice, more = {}) =>
    response.write(`data: ${JSON.stringify({ ...head, choices: [{ index: 0, ...choice }], ...more })}\n\n`);
  for (const piece of pieces) {
    if (piece instanceof Promise) await piece;
    else if (typeof piece === "string") send({ delta: { content: piece }, finish_reason: null });
    else send({ delta: { tool_calls: [called(piece)] }, finish_reason: null });
  }
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
  send({ delta: {}, finish_reason: "stop" }, { usage });
  response.end("data: [DONE]\n\n");
}

const called = ({ tool, ...piece }) => ({
  index: 0,
  id: "call_1",
  type: "function",
  function: { name: tool, arguments: JSON.stringify(piece.arguments) },
});

const told = (asked) => asked.messages.map((each) => String(each.content)).join("\n");

/** An answer in the form: as a call where the form is a tool, as text where it is a schema. */
function completion(asked, said) {
  const text = JSON.stringify(said);
  const name = asked.tools?.[0]?.function.name;
  const call = { id: "call_1", type: "function", function: { name, arguments: text } };
  const answer = name ? { content: null, tool_calls: [call] } : { content: text };
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_700_000_000,
    model: asked.model,
    choices: [{ index: 0, message: { role: "assistant", ...answer }, finish_reason: "stop" }],
    usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
  };
}
