import { Link, Outlet, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useLayoutEffect, useRef, useState } from "react";
import { answer, api } from "../api/client";
import { leave } from "../api/session";
import { useWaiting } from "../pages/useWaiting";
import { Button, Key } from "../parts/Button";
import { Dialog } from "../parts/Dialog";
import { Icon } from "../parts/Icon";
import { announce, useAnnouncement } from "./announce";
import { ConnectionPill, DisconnectedBand } from "./Connection";
import { press, useKeys } from "./keys";
import { BottomBar, DocsLink, Mark, Sidebar } from "./Nav";
import { Outgoing } from "./Outgoing";
import { ON_THE_PHONE, PLACES } from "./places";
import { StopButton, StoppedBand } from "./Stop";

const HelpOverlay = lazy(async () => ({ default: (await import("./Help")).HelpOverlay }));
const Palette = lazy(async () => ({ default: (await import("./Palette")).Palette }));

/** What is around every page: where one can go, whether it is live, and the way to stop. */
export function Shell() {
  const navigate = useNavigate();
  const [open, setOpen] = useState<"help" | "more" | "palette" | null>(null);
  useLayoutEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        if (!document.querySelector("dialog[open]")) setOpen("palette");
      } else press(event);
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, []);
  useNews();
  useKeys([
    {
      keys: "Ctrl-K",
      does: "go to anything by a part of its name",
      run: () => setOpen("palette"),
      group: "Everywhere",
    },
    { keys: "?", does: "show these keys", run: () => setOpen("help"), group: "Everywhere" },
    ...PLACES.map((place) => ({
      keys: place.key,
      does: `${place.name}: ${place.about}`,
      run: () => void navigate({ to: place.to }),
      group: "Go to",
    })),
  ]);
  return (
    <div className="flex min-h-dvh">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-lg focus:bg-surface focus:px-3 focus:py-2"
      >
        Skip to the page
      </a>
      <Sidebar />
      <div className="flex min-w-0 flex-1 flex-col pb-16 md:pb-0">
        <TopBar onHelp={() => setOpen("help")} onPalette={() => setOpen("palette")} />
        <StoppedBand />
        <DisconnectedBand />
        <main
          id="main"
          tabIndex={-1}
          className="mx-auto w-full max-w-6xl flex-1 has-[.diff]:min-[1400px]:max-w-none px-4 py-5 outline-none md:px-8"
        >
          <Outlet />
        </main>
      </div>
      <Outgoing />
      <p aria-live="polite" className="sr-only">
        {useAnnouncement()}
      </p>
      <BottomBar onMore={() => setOpen("more")} />
      <Suspense>
        {open === "help" && <HelpOverlay onClose={() => setOpen(null)} />}
        {open === "palette" && <Palette onClose={() => setOpen(null)} />}
      </Suspense>
      {open === "more" && <More onClose={() => setOpen(null)} />}
    </div>
  );
}

/** Say aloud what begins to wait while somebody looks at something else. */
function useNews(): void {
  const waiting = useWaiting();
  const known = useRef<Set<string> | null>(null);
  const ids = waiting.map(({ id }) => id).join(" ");
  // biome-ignore lint/correctness/useExhaustiveDependencies: what waits is said once, by its ids
  useEffect(() => {
    const news = known.current ? waiting.filter(({ id }) => !known.current?.has(id)) : [];
    if (news[0]) announce(`Waits for you: ${news[0].title}. ${waiting.length} in the inbox.`);
    known.current = new Set(waiting.map(({ id }) => id));
  }, [ids]);
}

function TopBar({ onHelp, onPalette }: { onHelp: () => void; onPalette: () => void }) {
  return (
    <header className="sticky top-0 z-10 flex items-center gap-1 border-b border-line bg-page px-4 py-2 md:px-8">
      <Link to="/" aria-label="Inbox" className="mr-1 p-1 md:hidden">
        <Mark />
      </Link>
      <ConnectionPill />
      <div className="ml-auto flex items-center gap-1">
        <Button look="quiet" onClick={onPalette} className="max-md:hidden">
          Go to
          <Key name="Ctrl-K" />
        </Button>
        <Button look="quiet" onClick={onHelp} aria-label="Keys" className="max-md:hidden">
          <Icon name="help" className="size-4.5" />
        </Button>
        <Button look="quiet" onClick={logOut} className="max-md:hidden">
          Log out
        </Button>
        <StopButton />
      </div>
    </header>
  );
}

function More({ onClose }: { onClose: () => void }) {
  const rest = PLACES.filter((place) => !ON_THE_PHONE.includes(place.to));
  return (
    <Dialog title="More" onClose={onClose}>
      <ul className="space-y-1">
        {rest.map((place) => (
          <li key={place.to}>
            <Link
              to={place.to}
              onClick={onClose}
              className="flex min-h-11 items-center gap-3 rounded-lg px-2 hover:bg-raised"
            >
              <Icon name={place.icon} className="size-5 text-soft" />
              <span>
                {place.name} <span className="text-sm text-soft">· {place.about}</span>
              </span>
            </Link>
          </li>
        ))}
        <li>
          <DocsLink className="min-h-11 gap-3" />
        </li>
        <li>
          <Button look="quiet" className="w-full justify-start" onClick={logOut}>
            Log out
          </Button>
        </li>
      </ul>
    </Dialog>
  );
}

async function logOut(): Promise<void> {
  await answer(api.DELETE("/api/session")).catch(() => undefined);
  leave();
}
