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

/** What is to be done once: each change has a task that runs when a person approves it. */
export function Tasks() {
  const pages = useInfiniteQuery(taskPages);
  const tasks = (pages.data?.pages ?? []).flatMap((page) => page.items);
  return (
    <>
      <PageHeader
        title="Tasks"
        about="What is to be done once. A change's task is on disk before anything of it runs, and is not enabled before you approve."
      />
      <section className="overflow-hidden rounded-card border border-line bg-surface">
        <Answer query={pages}>
          {() =>
            tasks.length === 0 ? (
              <Empty title="There are no tasks yet">
                Each proposed change brings one; it waits here until you decide.
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

function Row({ task }: { task: Task }) {
  const about = task.subject_id;
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-4 py-3 last:border-b-0">
      <span className="min-w-0 flex-1 basis-64">
        {about.startsWith("chg_") ? (
          <Link
            to="/changes/$id"
            params={{ id: about }}
            className="font-medium text-accent hover:underline"
          >
            {task.kind === "CODE_MODIFY" ? "Change the code" : task.kind}: {about}
          </Link>
        ) : (
          <span className="font-medium">{task.kind}</span>
        )}
        <span className="block text-sm text-soft">
          <StoryLink id={task.id} />, made <Time at={task.created_at} />
          {task.finished_at && (
            <>
              , over <Time at={task.finished_at} />
            </>
          )}
        </span>
      </span>
      <Badge tone={task.enabled ? "good" : "plain"}>
        {task.enabled ? "enabled" : "not enabled"}
      </Badge>
      <StateBadge state={task.outcome || task.state} />
    </li>
  );
}
