import { Link } from "@tanstack/react-router";
import { buttonClass } from "../parts/Button";
import { PageHeader } from "../parts/PageHeader";
import { Trouble } from "../parts/states";

export function Lost() {
  return (
    <>
      <PageHeader title="There is no such page" about="The address leads nowhere here." />
      <Link to="/" className={buttonClass()}>
        To the inbox
      </Link>
    </>
  );
}

export function Wrong({ error, reset }: { error: unknown; reset: () => void }) {
  return (
    <main className="mx-auto max-w-xl p-6">
      <Trouble error={error} retry={reset} />
    </main>
  );
}
