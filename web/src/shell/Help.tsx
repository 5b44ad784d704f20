import { Dialog } from "../parts/Dialog";
import { type Binding, useBindings } from "./keys";

export function HelpOverlay({ onClose }: { onClose: () => void }) {
  const groups = Map.groupBy(useBindings(), (binding: Binding) => binding.group ?? "This page");
  const names = [...groups.keys()].sort((a, b) => rank(a) - rank(b));
  return (
    <Dialog title="Keys" onClose={onClose}>
      <section
        aria-label="Keys of this page"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and has to by keyboard too
        tabIndex={0}
        className="max-h-[60dvh] space-y-4 overflow-y-auto"
      >
        {names.map((name) => (
          <section key={name}>
            <h3 className="mb-1 text-xs font-semibold tracking-wide text-soft uppercase">{name}</h3>
            <dl className="grid grid-cols-[auto_1fr] items-center gap-x-4 gap-y-1 text-sm">
              {groups.get(name)?.map((binding) => (
                <div key={binding.keys} className="contents">
                  <dt>
                    <Keys text={binding.keys} />
                  </dt>
                  <dd>{binding.does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </section>
    </Dialog>
  );
}

function Keys({ text }: { text: string }) {
  return text.split(" ").map((key) => (
    <kbd
      key={key}
      className="mr-1 inline-block min-w-6 rounded border border-line-strong bg-raised px-1.5 text-center font-mono text-xs leading-5"
    >
      {key}
    </kbd>
  ));
}

function rank(name: string): number {
  return ["This page", "Go to", "Everywhere"].indexOf(name);
}
