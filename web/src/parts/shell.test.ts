import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { quoted } from "./shell";

it("gives a shell back exactly what it was given", () => {
  for (const word of ["a/b.py", "$(touch /tmp/x)", "it's", "a b", ";rm -rf ~", "`id`", "'", "\\"]) {
    const said = execFileSync("/bin/sh", ["-c", `printf %s ${quoted(word)}`], { encoding: "utf8" });
    expect(said).toBe(word);
  }
});
