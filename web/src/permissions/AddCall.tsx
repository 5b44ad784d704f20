import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { answer, api } from "../api/client";
import { Button } from "../parts/Button";
import { Field } from "../parts/Field";
import { Sign } from "../parts/Sign";
import { quoted } from "../parts/shell";
import { Trouble } from "../parts/states";
import { Time } from "../parts/Time";
import { Untrusted } from "../parts/Untrusted";
import { endAfter } from "./scope";

const TOOL = "fetch_url";

/** Permit reading from one host, so often and so long. */
export function AddCall() {
  const client = useQueryClient();
  const [host, setHost] = useState("");
  const [uses, setUses] = useState(20);
  const spelled = useMutation({
    mutationFn: () => {
      const query = { tool: TOOL, host: host.trim(), uses, until: endAfter(1, Date.now()) };
      return answer(api.GET("/api/permissions/content", { params: { query } }));
    },
  });
  const content = spelled.data;
  return (
    <form
      className="mt-2 max-w-xl space-y-3"
      onChange={() => spelled.reset()}
      onSubmit={(event) => {
        event.preventDefault();
        if (host.trim()) spelled.mutate();
      }}
    >
      <Field
        label="Host that may be read from"
        value={host}
        maxLength={300}
        placeholder="example.com"
        onChange={(event) => setHost(event.target.value)}
      />
      <Field
        label="How many calls, within a day"
        type="number"
        min={1}
        value={uses}
        onChange={(event) => setUses(Number(event.target.value))}
      />
      {spelled.error && <Trouble error={spelled.error} />}
      {content ? (
        <>
          <p>
            {content.tool} {content.method}{" "}
            <Untrusted text={content.host} max={300} className="font-mono font-medium" /> without
            asking you, {content.uses} times at most; ends <Time at={content.until} coming />.
          </p>
          <Sign
            action="standing_permission_added"
            content={content}
            command={`astra permissions add --host ${quoted(content.host)} --uses ${content.uses} --until ${content.until}`}
            send={async (authority) => {
              const body = { content, authority };
              await answer(api.POST("/api/permissions", { body })).finally(() =>
                client.invalidateQueries({ queryKey: ["permissions"] }),
              );
              spelled.reset();
            }}
          >
            Permit it with your passkey
          </Sign>
        </>
      ) : (
        <Button type="submit" busy={spelled.isPending} disabled={!host.trim()}>
          See what it would mean
        </Button>
      )}
    </form>
  );
}
