/** Put a word into quotes for a POSIX shell, so that a path an agent named runs nothing. */
export function quoted(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", "'\\''")}'`;
}
