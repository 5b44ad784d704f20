/**
 * Text that an agent may have written, made honest: control characters, terminal escapes and
 * characters that turn the reading direction or hide are spelled out, as the server does it. That
 * includes what Unicode calls Default_Ignorable: letters and marks that are drawn as nothing.
 */

const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]/gu;

export type Piece = { text: string; escaped: boolean };

/** Cut a text into runs that are shown as they are and characters that are spelled out. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    if (match[0] === "\n" || match[0] === "\t") continue;
    if (match.index > from) found.push({ text: text.slice(from, match.index), escaped: false });
    found.push({ text: spelled(match[0]), escaped: true });
    from = match.index + match[0].length;
  }
  if (from < text.length) found.push({ text: text.slice(from), escaped: false });
  return found;
}

/** Give the same as one string, for titles and for places that take only text. */
export function visible(text: string): string {
  return pieces(text)
    .map((piece) => piece.text)
    .join("");
}

export function oneLine(text: string, width = 160): string {
  const shown = visible(text).replaceAll("\n", "\\n").replaceAll("\t", " ");
  return shown.length > width ? `${shown.slice(0, width - 1)}…` : shown;
}

function spelled(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, "0")}`;
  return `\\U${code.toString(16).padStart(8, "0")}`;
}
