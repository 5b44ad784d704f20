import { Link } from "@tanstack/react-router";
import { buttonClass } from "../parts/Button";
import { Empty, Trouble } from "../parts/states";

export function Lost() {
  return (
    <Empty title="There is no such page">
      <Link to="/" className={`mt-3 ${buttonClass()}`}>
        To the inbox
      </Link>
    </Empty>
  );
}

export function Wrong({ error, reset }: { error: unknown; reset: () => void }) {
  return (
    <main className="mx-auto max-w-xl p-6">
      <Trouble error={error} retry={reset} />
    </main>
  );
}
