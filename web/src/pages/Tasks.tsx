import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Task } from "../api/model";
import { taskPages } from "../api/queries";
import { Badge, StateBadge } from "../parts/Badge";
import { Button } from "../parts/Button";
import { StoryLink } from "../parts/Id";
import { PageHeader } from "../parts/PageHeader";
import { Answer, Empty } from "../parts/states";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";

/** What is to be done: tasks of changes and of goals, and what schedules made due. */
export function Tasks() {
  const pages = useInfiniteQuery(taskPages);
  const tasks = (pages.data?.pages ?? []).flatMap((page) => page.items);
  return (
    <>
      <PageHeader
        title="Tasks"
        about="What is to be done: for a change, in the graph of a goal, or because a schedule fired. Nothing of a change is live, and no task of a goal begins, before you signed for it or permitted it in advance."
      />
      <section className="overflow-hidden rounded-card border border-line bg-surface">
        <Answer query={pages}>
          {() =>
            tasks.length === 0 ? (
              <Empty title="There are no tasks yet">
                Each proposed change brings one, each goal a graph of them, each firing is one.
              </Empty>
            ) : (
              <ul>
                {tasks.map((task) => (
                  <Row key={task.id} task={task} />
                ))}
              </ul>
            )
          }
        </Answer>
      </section>
      {pages.hasNextPage && (
        <div className="mt-3 text-center">
          <Button busy={pages.isFetchingNextPage} onClick={() => pages.fetchNextPage()}>
            Older tasks
          </Button>
        </div>
      )}
    </>
  );
}

const PAGES: Record<string, string> = {
  change: "/changes/",
  goal: "/goals/",
  schedule: "/schedules/",
};

function Row({ task }: { task: Task }) {
  const page = PAGES[task.source];
  const title = <Untrusted text={task.title} max={160} />;
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-4 py-3 last:border-b-0">
      <span className="min-w-0 flex-1 basis-64">
        {page ? (
          <Link
            to={`${page}${task.subject_id}`}
            className="font-medium text-accent hover:underline"
          >
            {title}
          </Link>
        ) : (
          <span className="font-medium">{title}</span>
        )}
        <span className="block text-sm text-soft">
          {task.kind.replaceAll("_", " ").toLowerCase()}, <StoryLink id={task.id} />, made{" "}
          <Time at={task.created_at} />
          {task.finished_at && (
            <>
              , ended <Time at={task.finished_at} />
            </>
          )}
        </span>
      </span>
      {!task.enabled && <Badge>not enabled</Badge>}
      <StateBadge state={task.outcome || task.state} />
    </li>
  );
}
