/** How much of something is used; the words beside it say the same. */
export function Meter({
  value,
  max,
  label,
  tone = "accent",
}: {
  value: number;
  max: number;
  label: string;
  tone?: "accent" | "warn" | "bad";
}) {
  const share = max > 0 ? Math.min(value / max, 1) : 0;
  const colour = { accent: "bg-accent", warn: "bg-warn", bad: "bg-bad" }[tone];
  return (
    // biome-ignore lint/a11y/useSemanticElements: the meter element cannot be styled in every browser
    <div
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={max}
      aria-valuenow={value}
      className="h-1.5 w-full overflow-hidden rounded-full bg-raised"
    >
      <div
        className={`h-full origin-left rounded-full ${colour}`}
        style={{ width: `${share * 100}%` }}
      />
    </div>
  );
}
