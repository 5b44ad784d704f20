import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useWaiting } from "../pages/useWaiting";
import { Dialog } from "../parts/Dialog";
import { Untrusted } from "../parts/Untrusted";
import { type Entry, matching } from "./entries";
import { type Binding, useBindings } from "./keys";
import { DOCS, PLACES } from "./places";

const MOST = 12;

/** Everything that can be reached or done here, by typing a part of its name. */
export function Palette({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const entries = matching(useEntries(), typed).slice(0, MOST);
  const chosen = Math.min(at, entries.length - 1);
  const open = (entry: Entry | undefined) => {
    if (!entry) return;
    onClose();
    if (entry.to) void navigate({ to: entry.to });
    else entry.run?.();
  };
  const keys: Record<string, () => void> = {
    ArrowDown: () => setAt(Math.min(chosen + 1, entries.length - 1)),
    ArrowUp: () => setAt(Math.max(chosen - 1, 0)),
    Enter: () => open(entries[chosen]),
  };
  return (
    <Dialog title="Go to, or do" onClose={onClose}>
      <input
        role="combobox"
        aria-label="Search pages, keys and what waits, or type an id"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={entries.length > 0 ? `palette-${chosen}` : undefined}
        autoFocus
        value={typed}
        onChange={(event) => {
          setTyped(event.target.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          const act = keys[event.key];
          if (!act) return;
          event.preventDefault();
          act();
        }}
        placeholder="a page, something that waits, an id"
        className="mb-2 block min-h-9 w-full rounded-lg border border-line-strong bg-surface px-3 text-sm placeholder:text-soft"
      />
      <div id="palette-list" role="listbox" aria-label="What fits" className="text-sm">
        {entries.map((entry, index) => (
          <button
            key={`${entry.name} ${entry.to ?? entry.about}`}
            type="button"
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={() => open(entry)}
            className="flex min-h-9 w-full items-center gap-2 rounded-lg px-2 text-left aria-selected:bg-accent-wash"
          >
            <Untrusted text={entry.name} max={90} inButton className="font-medium" />
            <span className="min-w-0 truncate text-soft">{entry.about}</span>
          </button>
        ))}
      </div>
      {entries.length === 0 && <p className="text-sm text-soft">Nothing fits.</p>}
    </Dialog>
  );
}

function useEntries(): Entry[] {
  const waiting = useWaiting().map(({ title, kind, place }) => ({
    name: title,
    about: `waits for you, ${kind}`,
    to: place,
  }));
  const places = PLACES.map(({ name, about, to }) => ({ name, about, to }));
  const docs = { name: "Documentation", about: "how to do things, with a search", run: readDocs };
  const here = useBindings()
    .filter((binding: Binding) => binding.group !== "Go to")
    .map(({ does, keys, run }) => ({ name: does, about: `key ${keys}`, run }));
  return [...waiting, ...places, PERMISSIONS, docs, ...here];
}

/** A page that few need often enough for a place in the list at the side. */
const PERMISSIONS = {
  name: "Standing permissions",
  about: "what you signed for in advance",
  to: "/permissions",
};

const readDocs = () => globalThis.location.assign(DOCS);
