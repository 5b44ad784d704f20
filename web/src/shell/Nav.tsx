import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { useWaiting } from "../pages/useWaiting";
import { Icon } from "../parts/Icon";
import { DOCS, ON_THE_PHONE, PLACES, type Place } from "./places";
import { countWaiting } from "./title";

export function Sidebar() {
  return (
    <nav aria-label="Pages" className="hidden w-52 shrink-0 md:block">
      <div className="sticky top-0 flex h-dvh flex-col gap-0.5 border-r border-line px-3 py-4">
        <Link to="/" className="mb-4 flex items-center gap-2 px-2 text-[1.05rem] font-semibold">
          <Mark />
          Astra
        </Link>
        {PLACES.map((place) => (
          <Entry key={place.to} place={place} />
        ))}
        <DocsLink className="mt-auto min-h-9 gap-2.5 text-sm text-soft hover:text-ink" />
      </div>
    </nav>
  );
}

export function BottomBar({ onMore }: { onMore: () => void }) {
  const shown = PLACES.filter((place) => ON_THE_PHONE.includes(place.to));
  return (
    <nav
      aria-label="Pages"
      className="fixed inset-x-0 bottom-0 z-20 grid grid-cols-5 border-t border-line bg-surface pb-[env(safe-area-inset-bottom)] md:hidden"
    >
      {shown.map((place) => (
        <Link
          key={place.to}
          to={place.to}
          activeOptions={{ exact: place.to === "/" }}
          className="relative flex min-h-14 flex-col items-center justify-center gap-0.5 text-[0.7rem] text-soft aria-[current=page]:font-medium aria-[current=page]:text-accent"
        >
          <Icon name={place.icon} />
          {place.name}
          {place.to === "/" && <Waiting floating />}
        </Link>
      ))}
      <button
        type="button"
        onClick={onMore}
        className="flex min-h-14 flex-col items-center justify-center gap-0.5 text-[0.7rem] text-soft"
      >
        <Icon name="more" />
        More
      </button>
    </nav>
  );
}

/** The documentation is a site of its own, beside the dashboard. */
export function DocsLink({ className }: { className: string }) {
  return (
    <a href={DOCS} className={`flex items-center rounded-lg px-2 hover:bg-raised ${className}`}>
      <Icon name="help" className="size-4.5" />
      Documentation
    </a>
  );
}

function Entry({ place }: { place: Place }) {
  return (
    <Link
      to={place.to}
      activeOptions={{ exact: place.to === "/" }}
      className="flex min-h-9 items-center gap-2.5 rounded-lg px-2 text-sm text-soft hover:bg-raised hover:text-ink aria-[current=page]:bg-accent-wash aria-[current=page]:font-medium aria-[current=page]:text-accent"
    >
      <Icon name={place.icon} className="size-4.5" />
      {place.name}
      {place.to === "/" && <Waiting />}
    </Link>
  );
}

function Waiting({ floating = false }: { floating?: boolean }) {
  const count = useWaiting().length;
  useEffect(() => {
    countWaiting(count);
    void (count ? navigator.setAppBadge?.(count) : navigator.clearAppBadge?.());
  }, [count]);
  if (count === 0) return null;
  return (
    <span
      className={`rounded-full bg-accent px-1.5 text-xs font-semibold text-accent-ink ${floating ? "absolute top-1.5 left-[calc(50%+0.4rem)]" : "ml-auto"}`}
    >
      {count}
      <span className="sr-only"> waiting</span>
    </span>
  );
}

export function Mark() {
  return (
    <svg aria-hidden="true" viewBox="0 0 32 32" className="size-6 text-accent">
      <path
        fill="currentColor"
        d="M16 2l3.200 9.400L29 12l-7.800 6L24 28l-8-5.700L8 28l2.800-10L3 12l9.800-.600z"
      />
    </svg>
  );
}
