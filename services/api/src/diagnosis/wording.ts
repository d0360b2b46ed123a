import type { ErrorFact, StepFact } from "./facts.ts";

/** A text that others wrote, on one line of at most `maxLength` characters. Default 300. */
export function clipped(text: string, maxLength = 300): string {
  const line = text
    .slice(0, 4 * maxLength)
    .replace(/\s+/gu, " ")
    .trim();
  return line.length > maxLength || text.length > 4 * maxLength ? `${line.slice(0, maxLength)} …` : line;
}

/** A duration for people: "85 ms", "2.3 s", "4 min 5 s", "2 h 10 min". */
export function duration(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole < 1_000) return `${whole} ms`;
  if (whole < 60_000) return `${(whole / 1_000).toFixed(1)} s`;
  const seconds = Math.round(whole / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** "1 step", "2 steps". */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** What a tool, a model or the engine said, with its code. */
export function problem({ code, message }: ErrorFact): string {
  return `${clipped(message)} (${clipped(code, 64)})`;
}

/** Name of a step, with its tool when that has another name. */
export function stepName({ key, tool }: Pick<StepFact, "key" | "tool">): string {
  return key === tool ? clipped(key, 80) : `${clipped(key, 80)} (${clipped(tool, 80)})`;
}

/** `server "shop"`, or "its server" where no server offers the tool now. */
export function serverName(server: string | undefined): string {
  return server === undefined ? "its server" : `server "${server}"`;
}
