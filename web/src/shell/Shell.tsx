import { Link, Outlet, useNavigate } from "@tanstack/react-router";
import { useLayoutEffect, useState } from "react";
import { answer, api } from "../api/client";
import { leave } from "../api/session";
import { Button } from "../parts/Button";
import { Dialog } from "../parts/Dialog";
import { Icon } from "../parts/Icon";
import { ConnectionPill, DisconnectedBand } from "./Connection";
import { HelpOverlay } from "./Help";
import { press, useKeys } from "./keys";
import { BottomBar, Mark, Sidebar } from "./Nav";
import { ON_THE_PHONE, PLACES } from "./places";
import { StopButton, StoppedBand } from "./Stop";

/** What is around every page: where one can go, whether it is live, and the way to stop. */
export function Shell() {
  const navigate = useNavigate();
  const [open, setOpen] = useState<"help" | "more" | null>(null);
  useLayoutEffect(() => {
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
  useKeys([
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
        <TopBar onHelp={() => setOpen("help")} />
        <StoppedBand />
        <DisconnectedBand />
        <main
          id="main"
          tabIndex={-1}
          className="mx-auto w-full max-w-6xl flex-1 px-4 py-5 outline-none md:px-8"
        >
          <Outlet />
        </main>
      </div>
      <BottomBar onMore={() => setOpen("more")} />
      {open === "help" && <HelpOverlay onClose={() => setOpen(null)} />}
      {open === "more" && <More onClose={() => setOpen(null)} />}
    </div>
  );
}

function TopBar({ onHelp }: { onHelp: () => void }) {
  return (
    <header className="sticky top-0 z-10 flex items-center gap-1 border-b border-line bg-page px-4 py-2 md:px-8">
      <Link to="/" aria-label="Inbox" className="mr-1 md:hidden">
        <Mark />
      </Link>
      <ConnectionPill />
      <div className="ml-auto flex items-center gap-1">
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
