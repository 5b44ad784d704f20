/** Times in words. Pure, so that tests can say what now is. */

const STEPS: [limit: number, size: number, word: string][] = [
  [60, 1, "second"],
  [3_600, 60, "minute"],
  [86_400, 3_600, "hour"],
  [86_400 * 30, 86_400, "day"],
  [86_400 * 365, 86_400 * 30, "month"],
  [Number.POSITIVE_INFINITY, 86_400 * 365, "year"],
];

export function span(milliseconds: number): string {
  const seconds = Math.abs(milliseconds) / 1000;
  const [, size, word] = STEPS.find(([limit]) => seconds < limit) ?? [0, 1, "second"];
  const count = Math.floor(seconds / size);
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/** Say how long ago something was. Whatever the two clocks say, what was is never still to come. */
export function ago(time: string, now: number): string {
  const distance = now - Date.parse(time);
  return distance < 5_000 ? "just now" : `${span(distance)} ago`;
}

/** Say when something will be; once its time has come, how long ago that was. */
export function ahead(time: string, now: number): string {
  const distance = Date.parse(time) - now;
  if (Math.abs(distance) < 5_000) return "now";
  return distance < 0 ? ago(time, now) : `in ${span(distance)}`;
}

export function exact(time: string): string {
  return new Date(time).toLocaleString("en-GB", {
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "short",
  });
}

const BRIEF: Intl.DateTimeFormatOptions = {
  weekday: "short",
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
};

export function brief(time: string): string {
  return new Date(time).toLocaleString("en-GB", BRIEF);
}

/** Say a time as clocks in a zone show it; in this browser's own where it knows no such zone. */
export function briefIn(time: string, timeZone: string): string {
  try {
    return new Date(time).toLocaleString("en-GB", { ...BRIEF, timeZone });
  } catch {
    return brief(time);
  }
}

export function clock(time: string): string {
  return new Date(time).toLocaleTimeString("en-GB");
}

export function day(time: string): string {
  return new Date(time).toLocaleDateString("en-GB", {
    weekday: "long",
    day: "numeric",
    month: "long",
  });
}
