import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { answer, api } from "../api/client";
import { Button } from "../parts/Button";
import { Field } from "../parts/Field";
import { Sign } from "../parts/Sign";
import { Trouble } from "../parts/states";
import { Untrusted } from "../parts/Untrusted";
import { endAfter, readPaths, spellMergeCommand } from "./scope";

const NUMBERS = [
  { name: "mutants", label: "Percent of its mutants that tests notice", first: 80, most: 100 },
  { name: "most_files", label: "Files that it touches, at most", first: 3, most: 20 },
  { name: "most_lines", label: "Lines that it touches, at most", first: 50, most: 1_000 },
  { name: "uses", label: "How many changes", first: 5, most: 20 },
  { name: "days", label: "For how many days", first: 1, most: 7 },
] as const;
type Numbers = Record<(typeof NUMBERS)[number]["name"], number>;
const FIRST = Object.fromEntries(NUMBERS.map(({ name, first }) => [name, first])) as Numbers;

/** Permit changes: the server says it in one sentence, and exactly that is signed. */
export function AddMerge() {
  const client = useQueryClient();
  const [paths, setPaths] = useState("");
  const [numbers, setNumbers] = useState(FIRST);
  const [deploy, setDeploy] = useState(false);
  const spelled = useMutation({
    mutationFn: () => {
      const { days, ...limits } = numbers;
      const until = endAfter(days, Date.now());
      const body = { paths: readPaths(paths), until, deploy, plan: "", ...limits };
      return answer(api.POST("/api/merge-permissions/content", { body }));
    },
  });
  const content = spelled.data;
  return (
    <form
      className="mt-2 max-w-xl space-y-3"
      onChange={() => spelled.reset()}
      onSubmit={(event) => {
        event.preventDefault();
        if (paths.trim()) spelled.mutate();
      }}
    >
      <Field
        label="Paths that a change may touch"
        value={paths}
        maxLength={2_000}
        placeholder="docs/ notes/today.md"
        note="A file, a folder (docs/) or a glob below one (docs/**/*.md); several with spaces."
        onChange={(event) => setPaths(event.target.value)}
      />
      <div className="grid gap-3 sm:grid-cols-2">
        {NUMBERS.map(({ name, label, most }) => (
          <Field
            key={name}
            label={label}
            type="number"
            min={name === "mutants" ? 0 : 1}
            max={most}
            value={numbers[name]}
            onChange={(event) => setNumbers({ ...numbers, [name]: Number(event.target.value) })}
          />
        ))}
      </div>
      <label className="flex min-h-8 items-center gap-2">
        <input
          type="checkbox"
          checked={deploy}
          onChange={(event) => setDeploy(event.target.checked)}
          className="size-4 accent-accent"
        />
        deploy it as well
      </label>
      {spelled.error && <Trouble error={spelled.error} />}
      {content ? (
        <>
          <Untrusted text={content.words} max={1_000} block className="font-medium" />
          <Sign
            action="merge_permission_added"
            content={content}
            command={spellMergeCommand(content)}
            look="danger"
            send={async (authority) => {
              const body = { content, authority };
              await answer(api.POST("/api/merge-permissions", { body })).finally(() =>
                client.invalidateQueries({ queryKey: ["permissions"] }),
              );
              setPaths("");
              spelled.reset();
            }}
          >
            Permit it with your passkey
          </Sign>
        </>
      ) : (
        <Button type="submit" busy={spelled.isPending} disabled={!paths.trim()}>
          See what it would mean
        </Button>
      )}
    </form>
  );
}
