import { expect, it } from "vitest";
import { bytes } from "./bytes";

it("says sizes in the unit that fits", () => {
  expect([0, 1023, 1024, 2_560, 50 * 2 ** 30, 3 * 2 ** 50].map(bytes)).toEqual([
    "0 bytes",
    "1023 bytes",
    "1.0 KiB",
    "2.5 KiB",
    "50 GiB",
    "3072 TiB",
  ]);
});
