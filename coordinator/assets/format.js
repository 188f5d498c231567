// Numbers, sizes, durations and times as text.

const whole = new Intl.NumberFormat("en");
const SCALES = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

/** A whole number with separators. */
export function count(number) {
  return number == null ? "–" : whole.format(number);
}

function digits(value) {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** A number in three digits, such as 12.3 M. */
export function short(number) {
  if (number == null) return "–";
  const scale = SCALES.find(([size]) => number >= size);
  if (!scale) return Number.isInteger(number) ? String(number) : digits(number);
  return `${digits(number / scale[0])} ${scale[1]}`;
}

/** States a second. */
export function rate(number) {
  return number == null ? "–" : `${short(Math.round(number))}/s`;
}

/** A size in bytes. */
export function bytes(number) {
  if (!number) return "–";
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let at = 0;
  while (number >= 1024 && at + 1 < units.length) {
    number /= 1024;
    at += 1;
  }
  return `${at === 0 ? number : digits(number)} ${units[at]}`;
}

/** A duration in seconds, in one or two units. */
export function duration(seconds) {
  if (seconds == null) return "–";
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const all = Math.round(seconds);
  const two = (big, small, sizes) => {
    const rest = Math.floor((all % sizes[0]) / sizes[1]);
    return `${Math.floor(all / sizes[0])} ${big}${rest ? ` ${rest} ${small}` : ""}`;
  };
  if (all < 60) return `${all} s`;
  if (all < 3600) return two("min", "s", [60, 1]);
  if (all < 86400) return two("h", "min", [3600, 60]);
  return two("d", "h", [86400, 3600]);
}

/** A range of durations. */
export function range(seconds) {
  if (!seconds) return "not known";
  const low = duration(seconds.low);
  const high = duration(seconds.high);
  return low === high ? low : `${low} to ${high}`;
}

/** A share from 0 to 1. */
export function percent(share) {
  if (share == null) return "–";
  const value = 100 * share;
  return `${value < 10 ? value.toFixed(1) : value.toFixed(0)}\u00a0%`;
}

/** A time of day with its date. */
export function time(milliseconds) {
  if (milliseconds == null) return "–";
  const date = new Date(milliseconds);
  const two = (number) => String(number).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** Names of the states of a job. */
export const STATES = {
  queued: "queued",
  waiting: "waiting",
  running: "running",
  stopped: "stopped",
  cancelled: "cancelled",
  failed: "failed",
  done: "done",
};
