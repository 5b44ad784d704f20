import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { answer, api } from "../api/client";
import type { Desire } from "../api/model";
import { desireQuery, halfLifeQuery, storyQuery } from "../api/queries";
import { Badge } from "../parts/Badge";
import { Button } from "../parts/Button";
import { Card, Fact, Facts } from "../parts/Card";
import { Curve } from "../parts/Curve";
import { StoryLink } from "../parts/Id";
import { Json } from "../parts/Json";
import { PageHeader } from "../parts/PageHeader";
import { Answer, Trouble } from "../parts/states";
import { Time, useNow } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";
import { Reinforce } from "./Desires";
import { fading } from "./fading";

export function DesirePage() {
  const { id } = useParams({ from: "/desires/$id" });
  return (
    <Answer whole query={useQuery(desireQuery(id))}>
      {(found) => <Shown desire={found} />}
    </Answer>
  );
}

function Shown({ desire }: { desire: Desire }) {
  return (
    <>
      <PageHeader
        title="A desire"
        about={
          <>
            {Math.round(desire.strength * 100)} % strong now, first wanted{" "}
            <Time at={desire.recorded_at} />
          </>
        }
        actions={
          <>
            <Reinforce id={desire.id} />
            {!desire.goal_id && <Promote id={desire.id} />}
          </>
        }
      />
      <div className="space-y-4">
        <Card>
          <Untrusted text={desire.text} block className="text-lg" />
        </Card>
        <Card title="Strength">
          <Strength desire={desire} />
        </Card>
        <Card title="Details">
          <Facts>
            <Fact name="State">
              {desire.goal_id ? (
                <Link
                  to="/goals/$id"
                  params={{ id: desire.goal_id }}
                  className="text-accent underline"
                >
                  a goal
                </Link>
              ) : (
                <Badge>{desire.state}</Badge>
              )}
            </Fact>
            <Fact name="Reinforced">
              {desire.reinforced_at ? (
                <>
                  {desire.reinforcements === 1 ? "once" : `${desire.reinforcements} times`}, last{" "}
                  <Time at={desire.reinforced_at} />
                </>
              ) : (
                "never"
              )}
            </Fact>
            {desire.context !== null && (
              <Fact name="Context">
                <Json value={desire.context} />
              </Fact>
            )}
            <Fact name="Evidence">
              <StoryLink id={desire.id}>the records of this story</StoryLink>
            </Fact>
          </Facts>
        </Card>
      </div>
    </>
  );
}

function Strength({ desire }: { desire: Desire }) {
  const now = useNow();
  const story = useQuery(storyQuery(desire.id));
  const { data: days = 14 } = useQuery(halfLifeQuery);
  return (
    <Answer query={story} rows={1}>
      {(page) => (
        <>
          <Curve
            points={fading(page.items, desire.id, days, now)}
            now={now}
            label={`strength over time, ${Math.round(desire.strength * 100)} percent now`}
          />
          <p className="mt-1 text-sm text-soft">
            It halves every {days} days; the dotted line is how it fades if nobody reinforces it.
          </p>
        </>
      )}
    </Answer>
  );
}

/** Ask for a goal with its plan, so that one signature adopts it too. */
function Promote({ id }: { id: string }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const promote = useMutation({
    mutationFn: () => askForGoal(id),
    onSuccess: async (approval) => {
      await client.invalidateQueries({ queryKey: ["approvals"] });
      await navigate({ to: "/approvals/$id", params: { id: approval } });
    },
  });
  return (
    <>
      <Button look="main" busy={promote.isPending} onClick={() => promote.mutate()}>
        Make it a goal
      </Button>
      {promote.error && <Trouble error={promote.error} />}
    </>
  );
}

async function askForGoal(identifier: string): Promise<string> {
  const path = { params: { path: { identifier } } };
  return (await answer(api.POST("/api/desires/{identifier}/approval", path))).id;
}
