import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useEffect, useMemo, useState } from "react";
import type { Change } from "../api/changes";
import { changeQuery, diffQuery } from "../api/queries";
import { StateBadge } from "../parts/Badge";
import { Button } from "../parts/Button";
import { PageHeader } from "../parts/PageHeader";
import { Answer } from "../parts/states";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";
import { oneLine } from "../parts/visible";
import { useKeys } from "../shell/keys";
import { About } from "./About";
import { Decide } from "./Decide";
import type { Mode } from "./DiffTable";
import { useDrafts, withViewed } from "./drafts";
import { FileCard } from "./FileCard";
import { FileTree } from "./FileTree";
import { type Highlighter, loadHighlighter } from "./highlight";
import { isOnItsWay } from "./journey";
import { Moved } from "./Moved";
import { type FileDiff, parseDiff } from "./parse";
import { StoryGraph } from "./StoryGraph";
import { Way } from "./Way";

export function ReviewPage() {
  const { id } = useParams({ from: "/changes/$id" });
  return (
    <Answer whole query={useQuery(changeQuery(id))}>
      {(found) => <Review change={found} />}
    </Answer>
  );
}

function Review({ change }: { change: Change }) {
  const diff = useQuery(diffQuery(change.id, change.commit));
  const files = useMemo(() => parseDiff(diff.data?.diff ?? ""), [diff.data]);
  return (
    <>
      <PageHeader
        title={titled(change)}
        about={
          <>
            {placed(change)}. {change.state === "executed" ? "Is" : "Would become"} part of{" "}
            <Untrusted text={change.target_branch} />
            {change.state !== "executed" && " and, once deployed, of what runs"}. Proposed by{" "}
            <Untrusted text={change.proposed_by} max={60} /> <Time at={change.created_at} />.
          </>
        }
        actions={<StateBadge state={change.state} />}
      />
      <Moved change={change} />
      <StoryGraph change={change} />
      {isOnItsWay(change) && <Way change={change} />}
      <About change={change} />
      <Answer query={diff}>{() => <Files change={change} files={files} />}</Answer>
      <Decide change={change} />
    </>
  );
}

/** The agent's reason says what a change is; its files say where. */
function titled(change: Change): string {
  return `“${oneLine(change.reason, 160)}”`;
}

function placed(change: Change): string {
  const [first] = change.files;
  const more = change.files.length - 1;
  if (!first) return "No file";
  return `${oneLine(first.path, 80)}${more ? ` and ${more} more` : ""}`;
}

/** Room for two columns beside the list of files. */
const WIDE = "(min-width: 1024px)";

function Files({ change, files }: { change: Change; files: FileDiff[] }) {
  const [drafts, draft] = useDrafts(change.commit);
  const [mode, setMode] = useState<Mode>(matchMedia(WIDE).matches ? "split" : "unified");
  const [at, setAt] = useState(0);
  const highlight = useHighlighter();
  const go = (index: number) => {
    const next = Math.max(0, Math.min(index, files.length - 1));
    setAt(next);
    const card = document.getElementById(`file-${next}`);
    card?.focus({ preventScroll: true });
    card?.scrollIntoView({ block: "start" });
  };
  const path = files[at]?.path ?? "";
  const viewed = (which: string) => drafts.viewed.includes(which);
  const toggle = (which: string) => draft((now) => withViewed(now, which, !viewed(which)));
  const seen = () => {
    toggle(path);
    go(at + 1);
  };
  const flip = () => setMode(mode === "split" ? "unified" : "split");
  useKeys([
    { keys: "j", does: "next file", run: () => go(at + 1) },
    { keys: "k", does: "previous file", run: () => go(at - 1) },
    {
      keys: "v",
      does: "mark the file as viewed, go to the next",
      run: seen,
    },
    { keys: "s", does: "side by side, or in one column", run: flip },
  ]);
  return (
    <div className="mt-4 grid gap-4 lg:grid-cols-[15rem_1fr]">
      <aside
        aria-label="Files"
        className="min-w-0 lg:sticky lg:top-16 lg:max-h-[calc(100dvh-5rem)] lg:self-start lg:overflow-y-auto"
      >
        <FileTree files={files} viewed={drafts.viewed} at={at} onGo={go} />
        <Button className="mt-2 w-full max-lg:hidden" hint="s" onClick={flip}>
          {mode === "split" ? "In one column" : "Side by side"}
        </Button>
      </aside>
      <div className="min-w-0 space-y-4">
        {files.map((file, index) => (
          <FileCard
            key={file.path}
            id={`file-${index}`}
            file={file}
            change={change}
            mode={mode}
            chosen={index === at}
            viewed={viewed(file.path)}
            onViewed={() => toggle(file.path)}
            highlight={highlight}
          />
        ))}
      </div>
    </div>
  );
}

function useHighlighter(): Highlighter | null {
  const [found, setFound] = useState<Highlighter | null>(null);
  useEffect(() => {
    void loadHighlighter().then((loaded) => setFound(() => loaded));
  }, []);
  return found;
}
