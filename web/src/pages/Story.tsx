import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { storyQuery } from "../api/queries";
import { PageHeader } from "../parts/PageHeader";
import { Answer, Empty } from "../parts/states";
import { span } from "../parts/time";
import { oneLine } from "../parts/visible";
import { Records } from "./Records";
import { storyTitle } from "./storyTitle";

export function Story() {
  const { id } = useParams({ from: "/ledger/story/$id" });
  const story = useQuery(storyQuery(id));
  const items = story.data?.items ?? [];
  const title = storyTitle(items, id);
  const took = Date.parse(items.at(-1)?.time ?? "") - Date.parse(items[0]?.time ?? "");
  return (
    <>
      <PageHeader
        title={title ? `The story of “${oneLine(title, 120)}”` : "The story"}
        about={
          <>
            {items.length > 1 && `${items.length} records over ${span(took)}, oldest first; `}
            <code className="font-mono text-xs">{oneLine(id, 60)}</code>
          </>
        }
      />
      <div className="overflow-hidden rounded-card border border-line bg-surface">
        <Answer query={story}>
          {(page) =>
            page.items.length ? (
              <Records records={page.items} />
            ) : (
              <Empty title="No record mentions this id" />
            )
          }
        </Answer>
      </div>
    </>
  );
}
