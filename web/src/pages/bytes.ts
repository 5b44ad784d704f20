/** Sizes as people say them. */

const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"];

export function bytes(count: number): string {
  let [value, unit] = [count, 0];
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value >= 10 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}
