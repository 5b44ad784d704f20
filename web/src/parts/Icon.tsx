/** Line icons on a grid of 24, drawn for these pages. */
const PATHS = {
  inbox: "M4 13l2.5-8h11L20 13v6H4zM4 13h5l1.2 2.5h3.6L15 13h5",
  changes:
    "M7 4v10M7 18v2M17 10v10M17 4v2M4.5 16h5M14.5 8h5M7 14a2 2 0 1 0 0 4a2 2 0 0 0 0-4M17 6a2 2 0 1 0 0 4a2 2 0 0 0 0-4",
  goals: "M6 21V4h12l-2.500 4l2.500 4H6",
  plans: "M8 6h12M8 12h12M8 18h8M4 6h.01M4 12h.01M4 18h.01",
  schedules: "M12 21a9 9 0 1 0 0-18a9 9 0 0 0 0 18M12 7v5l3.5 2",
  desires:
    "M12 20s-7.5-4.6-7.5-10A4.2 4.2 0 0 1 12 7.4A4.2 4.2 0 0 1 19.5 10c0 5.400-7.500 10-7.500 10z",
  beliefs: "M4 18c3-1 4-9 8-9s5 6 8 5M4 12c3-1 4-6 8-6s5 4 8 3M4 20h16",
  releases:
    "M12 3c3 2.500 4.500 6 4.500 10l-2 3h-5l-2-3c0-4 1.500-7.500 4.500-10zM9.500 19l2.500 2l2.500-2M12 10.500h.01",
  ledger:
    "M6 4h11a1.500 1.500 0 0 1 1.500 1.500V20H7.500A1.500 1.500 0 0 1 6 18.500zM6 18.500A1.500 1.500 0 0 1 7.500 17h11M9.500 8h5.500M9.500 11.500h5.500",
  safety:
    "M12 3l7.500 3v5.500c0 4.500-3 8-7.500 9.500c-4.500-1.500-7.500-5-7.500-9.500V6zM9 12l2 2l4-4.500",
  chat: "M4 5h16v11H10l-4 4v-4H4zM8 9h8M8 12h5",
  status: "M3 12h4l2.500-6l4.500 12l2.500-6h4.500",
  research: "M10.500 17a6.500 6.500 0 1 0 0-13a6.500 6.500 0 0 0 0 13M15.500 15.500l5 5M8 10.500h5",
  numbers: "M4 20h16M7 20v-6M12 20V5M17 20v-10",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  stop: "M8 3h8l5 5v8l-5 5H8l-5-5V8zM9 9l6 6M15 9l-6 6",
  back: "M15 5l-7 7l7 7",
  help: "M12 21a9 9 0 1 0 0-18a9 9 0 0 0 0 18M9.500 9.500a2.500 2.500 0 1 1 3.500 2.300c-.700.300-1 .800-1 1.700M12 16.500h.01",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, className = "size-5" }: { name: IconName; className?: string }) {
  return (
    <svg aria-hidden="true" viewBox="0 0 24 24" className={`shrink-0 ${className}`}>
      <path
        d={PATHS[name]}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.700"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}
