import { useState } from "react";
import { Button } from "./Button";

/** A command to run in a terminal, with a button that copies it. */
export function Command({ line }: { line: string }) {
  const [copied, setCopied] = useState(false);
  async function copy() {
    await navigator.clipboard.writeText(line);
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  }
  return (
    <div className="flex items-center gap-2 rounded-lg border border-line bg-raised py-1 pr-1 pl-3">
      <code className="min-w-0 flex-1 font-mono text-sm [overflow-wrap:anywhere]">{line}</code>
      <Button look="quiet" className="min-h-8" onClick={copy} aria-live="polite">
        {copied ? "Copied" : "Copy"}
      </Button>
    </div>
  );
}
