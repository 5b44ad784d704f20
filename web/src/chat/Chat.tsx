import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { type Conversation, chatQuery, chatsQuery, type Message } from "../api/chat";
import { session } from "../api/session";
import { Button } from "../parts/Button";
import { PageHeader } from "../parts/PageHeader";
import { Answer, Empty, Trouble } from "../parts/states";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";
import { useKeys } from "../shell/keys";
import { Delete } from "./Delete";
import { Bubble, Said, Saying, Suggestion } from "./Said";
import { type Spoken, talk } from "./talk";

const LONGEST = 20_000;
const FIRST = 50;
const MOST = 200;

export function Chat() {
  const { with: chosen } = useSearch({ from: "/chat" });
  const chats = useQuery(chatsQuery);
  return (
    <>
      <PageHeader
        title="Chat"
        about="The agent acts as itself here, whoever talks with it: what needs a decision waits for you all the same. What is said is kept on this machine, until you delete it."
        actions={
          chosen && (
            <Link
              to="/chat"
              search={{}}
              className="rounded-lg border border-line-strong bg-surface px-3 py-1.5 text-sm font-medium hover:bg-raised"
            >
              New conversation
            </Link>
          )
        }
      />
      <Answer query={chats}>
        {(page) => (
          <div className="grid gap-4 lg:grid-cols-[1fr_16rem]">
            <Thread chosen={chosen ?? null} unavailable={page.unavailable} />
            <nav aria-label="Conversations" className="min-w-0">
              <h2 className="mb-1 text-sm font-semibold">Conversations</h2>
              {page.items.length === 0 && (
                <p className="text-sm text-soft">None yet. They are listed here.</p>
              )}
              <ul className="space-y-0.5">
                {page.items.map((each) => (
                  <li key={each.id}>
                    <Link
                      to="/chat"
                      search={{ with: each.id }}
                      aria-current={each.id === chosen ? "page" : undefined}
                      className="block rounded-lg px-2 py-1.5 text-sm hover:bg-raised aria-[current=page]:bg-accent-wash aria-[current=page]:text-accent"
                    >
                      <Untrusted text={each.title} max={80} />
                      <Time at={each.spoken_at} className="block text-xs text-soft" />
                    </Link>
                  </li>
                ))}
              </ul>
            </nav>
          </div>
        )}
      </Answer>
    </>
  );
}

type Why = { code: string; detail: string; next_step: string };

function Thread({ chosen, unavailable }: { chosen: string | null; unavailable: Why | null }) {
  const [limit, setLimit] = useState(FIRST);
  const navigate = useNavigate();
  const found = useQuery({ ...chatQuery(chosen ?? "", limit), enabled: chosen !== null });
  const spoken = useSyncExternalStore(talk.watch, () => talk.spoken);
  const here = spoken && spoken.conversation === chosen ? spoken : null;
  return (
    <section aria-label="Conversation" className="min-w-0">
      {chosen && (
        <Answer query={found}>
          {(conversation) => (
            <>
              {conversation.next !== null && (
                <Button
                  className="mb-3"
                  busy={found.isFetching}
                  disabled={limit === MOST}
                  onClick={() => setLimit(MOST)}
                >
                  {limit === MOST ? "astra chat --show has the rest" : "Show what was said before"}
                </Button>
              )}
              <Lines conversation={conversation} spoken={here} />
              {session()?.role !== "viewer" && (
                <div className="mb-3 flex justify-end">
                  <Delete
                    key={conversation.id}
                    conversation={conversation}
                    gone={() => navigate({ to: "/chat", search: {}, replace: true })}
                  />
                </div>
              )}
            </>
          )}
        </Answer>
      )}
      {!chosen && here && <Lines conversation={null} spoken={here} />}
      {!chosen && !here && !unavailable && (
        <Empty title="Say something to the agent">
          Ask what it knows about its code, what it would like, or to write something down.
        </Empty>
      )}
      {talk.trouble && !spoken && <Trouble error={talk.trouble} />}
      {unavailable ? <Nobody why={unavailable} /> : <Composer chosen={chosen} speaking={spoken} />}
    </section>
  );
}

function Nobody({ why }: { why: Why }) {
  return (
    <div className="rounded-card border border-line bg-surface">
      <Empty title="Nobody can be talked with now">
        <p>
          <Untrusted text={why.detail} />
        </p>
        <p className="mt-1">
          Next: <Untrusted text={why.next_step} />
        </p>
      </Empty>
    </div>
  );
}

function Lines({
  conversation,
  spoken,
}: {
  conversation: Conversation | null;
  spoken: Spoken | null;
}) {
  const end = useRef<HTMLLIElement>(null);
  const items = conversation?.items ?? [];
  const asked = items.at(-1);
  const since = spoken?.asked ?? Number.POSITIVE_INFINITY;
  const kept = items.some((message) => message.sequence === since);
  const answered = items.some((message) => message.who === "persona" && message.sequence > since);
  const length = items.length + (spoken?.text.length ?? 0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what grows is what is scrolled to
  useEffect(() => {
    end.current?.scrollIntoView({ block: "nearest" });
  }, [length]);
  return (
    <ul aria-live="polite" className="mb-4 space-y-3">
      {items.map((message, at) => (
        <Said key={message.sequence} message={message}>
          {offers(items, at, conversation) && (
            <Suggestion conversation={conversation?.id ?? ""} text={message.suggestion ?? ""} />
          )}
        </Said>
      ))}
      {spoken && !kept && (
        <Bubble mine>
          <Untrusted block text={spoken.question} />
        </Bubble>
      )}
      {spoken && !answered && <Saying spoken={spoken} />}
      {!spoken && asked?.who === "person" && (
        <li className="text-sm text-soft">
          {conversation?.answering
            ? "It is being answered, in another window."
            : "There is no answer to this: Astra went away in the middle. Ask again."}
        </li>
      )}
      <li ref={end} aria-hidden="true" className="scroll-mb-56" />
    </ul>
  );
}

/** Tell whether a suggestion still stands: it is the last word, and nobody said no. */
function offers(items: Message[], at: number, conversation: Conversation | null): boolean {
  const last = at === items.length - 1;
  return last && !!items[at]?.suggestion && !conversation?.silenced;
}

function Composer({ chosen, speaking }: { chosen: string | null; speaking: Spoken | null }) {
  const [text, setText] = useState("");
  const navigate = useNavigate();
  const field = useRef<HTMLTextAreaElement>(null);
  useKeys([{ keys: "/", does: "write a message", run: () => field.current?.focus() }]);
  if (session()?.role === "viewer") {
    return <p className="text-sm text-soft">You can read what was said, and not take part.</p>;
  }
  function send() {
    const said = text.trim();
    if (!said || speaking) return;
    setText("");
    void talk.say(said, chosen, (id) => {
      if (!chosen) void navigate({ to: "/chat", search: { with: id }, replace: true });
    });
  }
  return (
    <form
      className="sticky bottom-16 rounded-card border border-line-strong bg-surface p-2 md:bottom-4"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label htmlFor="message" className="sr-only">
        Message to the agent
      </label>
      <textarea
        id="message"
        ref={field}
        rows={2}
        value={text}
        maxLength={LONGEST}
        placeholder="Message to the agent"
        className="block w-full resize-y bg-transparent px-2 py-1 text-sm placeholder:text-soft"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault();
            send();
          }
        }}
      />
      <div className="mt-1 flex items-center justify-end gap-2 sm:justify-between">
        <span className="hidden text-xs text-soft sm:inline">
          Enter sends, Shift+Enter starts a new line
        </span>
        {speaking ? (
          <Button type="button" look="danger" onClick={talk.cut}>
            Cut off
          </Button>
        ) : (
          <Button type="submit" look="main" disabled={!text.trim()}>
            Send
          </Button>
        )}
      </div>
    </form>
  );
}
