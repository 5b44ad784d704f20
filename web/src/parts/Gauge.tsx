/** How full something is, as half a circle; the number below it, or `text`, says the same. */
export function Gauge({
  value,
  max,
  label,
  text,
}: {
  value: number;
  max: number;
  label: string;
  text?: string;
}) {
  const share = max > 0 ? Math.min(value / max, 1) : 0;
  const colour = share >= 1 ? "var(--bad)" : share > 0.75 ? "var(--warn)" : "var(--accent)";
  const arc = "M8 44A32 32 0 0 1 72 44";
  return (
    <svg
      role="img"
      aria-label={`${label}: ${value} of ${max}`}
      viewBox="0 0 80 50"
      className="w-20"
    >
      <path d={arc} fill="none" stroke="var(--raised)" strokeWidth="9" pathLength="100" />
      {share > 0 && (
        <path
          d={arc}
          fill="none"
          stroke={colour}
          strokeWidth="9"
          pathLength="100"
          strokeDasharray={`${share * 100} 100`}
        />
      )}
      <text
        x="40"
        y="43"
        textAnchor="middle"
        fill="var(--ink)"
        className="text-[15px] font-semibold"
      >
        {text ?? value}
      </text>
    </svg>
  );
}
