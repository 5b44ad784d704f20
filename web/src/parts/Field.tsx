import { type InputHTMLAttributes, type ReactNode, type Ref, useId } from "react";

const LOOK =
  "block min-h-9 w-full rounded-lg border border-line-strong bg-surface px-3 py-1.5 text-sm placeholder:text-soft aria-invalid:border-bad";

export function Field({
  label,
  hidden = false,
  note,
  wrong,
  ref,
  ...rest
}: InputHTMLAttributes<HTMLInputElement> & {
  label: string;
  hidden?: boolean;
  note?: ReactNode;
  wrong?: string | undefined;
  ref?: Ref<HTMLInputElement>;
}) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className={hidden ? "sr-only" : "mb-1 block text-sm font-medium"}>
        {label}
      </label>
      <input
        id={id}
        ref={ref}
        aria-invalid={wrong ? true : undefined}
        aria-describedby={note || wrong ? `${id}-note` : undefined}
        {...rest}
        className={LOOK}
      />
      {(note || wrong) && (
        <p id={`${id}-note`} className={`mt-1 text-sm ${wrong ? "text-bad" : "text-soft"}`}>
          {wrong ?? note}
        </p>
      )}
    </div>
  );
}

export function Choice({
  label,
  value,
  onChange,
  options,
  hidden = false,
}: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  options: { value: string; name: string }[];
  hidden?: boolean;
}) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className={hidden ? "sr-only" : "mb-1 block text-sm font-medium"}>
        {label}
      </label>
      <select
        id={id}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        className={LOOK}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.name}
          </option>
        ))}
      </select>
    </div>
  );
}
