import { bars, dayAt, type Tone } from "./days";

/** A bar a day, as plain SVG: its colours are the page's, and follow it into the dark. */
export function Bars({
  values,
  top,
  tone,
  label,
  chosen,
  before,
  onChoose,
}: {
  values: number[];
  top: number;
  tone: Tone;
  label: string;
  chosen: number;
  before: number;
  onChoose: (day: number) => void;
}) {
  const choose = (event: React.PointerEvent<SVGSVGElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    onChoose(dayAt(event.clientX - left, width, values.length));
  };
  return (
    <div className="grid grid-cols-[2.5rem_1fr] gap-x-2 text-xs text-soft tabular-nums">
      <div aria-hidden="true" className="flex flex-col justify-between text-right leading-none">
        <span>{top}</span>
        <span>0</span>
      </div>
      <svg
        role="img"
        aria-label={label}
        viewBox={`0 0 ${values.length} 1`}
        preserveAspectRatio="none"
        onPointerMove={choose}
        onPointerDown={choose}
        className="h-14 w-full touch-pan-y border-y border-line"
      >
        {before > 0 && <rect width={before} height="1" fill="var(--raised)" opacity="0.6" />}
        <rect x={chosen} width="1" height="1" fill="var(--accent-wash)" />
        {bars(values, top).map(({ at, height }) => (
          <rect
            key={at}
            x={at + 0.15}
            width="0.7"
            y={1 - height}
            height={height}
            fill={`var(--${tone})`}
          />
        ))}
      </svg>
    </div>
  );
}
