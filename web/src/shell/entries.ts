/** What the command palette offers for the words that were typed. */

export type Entry = { name: string; about: string; to?: string; run?: () => void };

const ID = /^([a-z]{2,6})_[0-9a-z]{8,40}$/;
const PAGES: Record<string, string> = {
  chg: "/changes",
  apr: "/approvals",
  plan: "/plans",
  sch: "/schedules",
  des: "/desires",
  belief: "/beliefs",
};

/** The entries that have every word somewhere; an id leads to its page or its story. */
export function matching(entries: readonly Entry[], typed: string): Entry[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const [id, kind] = ID.exec(typed.trim()) ?? [];
  const place = id && kind ? `${PAGES[kind] ?? "/ledger/story"}/${id}` : null;
  const named = place ? [{ name: `Open ${id}`, about: place, to: place }] : [];
  const texts = entries.filter(({ name, about }) =>
    words.every((word) => `${name} ${about}`.toLowerCase().includes(word)),
  );
  return [...named, ...texts];
}
