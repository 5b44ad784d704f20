import { type ReactNode, useLayoutEffect, useRef } from "react";

/**
 * A modal by the browser's own dialog element: it keeps the focus inside, closes on Escape and
 * returns the focus, without styles that a strict Content-Security-Policy would refuse.
 */
export function Dialog({
  title,
  onClose,
  children,
}: {
  title: string;
  onClose: () => void;
  children: ReactNode;
}) {
  const element = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const dialog = element.current;
    if (dialog && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      aria-labelledby="dialog-title"
      onClose={onClose}
      onClick={(event) => event.target === element.current && onClose()}
      onKeyDown={(event) => event.stopPropagation()}
      className="m-auto w-[min(34rem,calc(100vw-2rem))] rounded-xl border border-line bg-surface p-0 text-ink shadow-xl"
    >
      <div className="p-5">
        <h2 id="dialog-title" className="mb-3 text-base font-semibold">
          {title}
        </h2>
        {children}
      </div>
    </dialog>
  );
}
