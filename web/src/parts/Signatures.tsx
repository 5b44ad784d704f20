import type { Signatures as Given } from "../api/model";

/** Who signed, and how many are missing; nothing where one signature is enough. */
export function Signatures({ signatures }: { signatures: Given }) {
  if (signatures.needed === 1) return null;
  const words = signatures.signed_by.length
    ? [`Signed by ${signatures.signed_by.join(" and ")}.`]
    : signatures.rounds.map((round) => round.words);
  return (
    <ul aria-label="Signatures" className="mb-2 text-sm">
      {(words.length ? words : [`It takes ${signatures.needed} operators' signatures.`]).map(
        (line) => (
          <li key={line}>{line}</li>
        ),
      )}
    </ul>
  );
}
