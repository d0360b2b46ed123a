/** A duration for people: "85 ms", "2.3 s", "4 min 5 s", "2 h 10 min". */
export function durationText(durationMs: number): string {
  const whole = Math.max(0, Math.round(durationMs));
  if (whole < 1_000) return `${whole} ms`;
  if (whole < 60_000) return `${(whole / 1_000).toFixed(1)} s`;
  const seconds = Math.round(whole / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/**
 * How long something took, as every duration of a plan or a step is told: its own time, and beside it what it waited
 * for people: "2.3 s", "2.3 s, and 15 min 0 s waiting for people".
 * @param waitedForPeopleMs - null or absent: not known, such as from an older API
 */
export function ownTimeText(ownMs: number, waitedForPeopleMs: number | null | undefined): string {
  const waited = waitedForPeopleMs ? `, and ${durationText(waitedForPeopleMs)} waiting for people` : "";
  return `${durationText(ownMs)}${waited}`;
}

/** "1 step", "2 steps". */
export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** "3 %", rounded down, so that 100 % is all; "under 1 %" for less. @param part - at least 1 */
export function shareText(part: number, whole: number): string {
  const percent = Math.floor((part / whole) * 100);
  return percent === 0 ? "under 1 %" : `${percent} %`;
}

/** A count that stops at a bound: "12", "9,999", "10,000+". */
export function boundedText(count: number, bound: number): string {
  return count >= bound ? `${bound.toLocaleString("en")}+` : count.toLocaleString("en");
}

/** Stands in suggested commands and actions for a value that only the user knows. */
export const PLACEHOLDER = "…";

/** True for a value in which a placeholder was left, as a value or as the name of a field. Pure. */
export function hasPlaceholder(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value === PLACEHOLDER;
  return Object.hasOwn(value, PLACEHOLDER) || Object.values(value).some(hasPlaceholder);
}

/** Most tools that a title names. */
const MAX_NAMED = 4;

/**
 * The name of a request for people, in lists and headings: its sentence, or the tools of its plan in plan order,
 * such as "searchItems → reserveStock". Repeats in a row are named once; more than four tools end with "→ …".
 * @param query - the sentence; null for a plan that was submitted without one
 * @param tools - the tool of each step
 */
export function requestTitle(query: string | null, tools: readonly string[]): string {
  if (query !== null) return query;
  const named = tools.filter((tool, index) => tool !== tools[index - 1]);
  if (named.length === 0) return "a plan without readable steps";
  return [...named.slice(0, MAX_NAMED), ...(named.length > MAX_NAMED ? ["…"] : [])].join(" → ");
}
