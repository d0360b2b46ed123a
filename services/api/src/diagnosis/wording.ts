import type { ErrorFact, StepFact } from "./facts.ts";

/** A text from outside, on one line of at most `maxLength` characters. Default 300. */
export function clipped(text: string, maxLength = 300): string {
  const line = text
    .slice(0, 4 * maxLength)
    .replace(/\s+/gu, " ")
    .trim();
  return line.length > maxLength || text.length > 4 * maxLength ? `${line.slice(0, maxLength)} …` : line;
}

/** The message of a tool, a model or the engine, with its code. */
export function problem({ code, message }: ErrorFact): string {
  return `${clipped(message)} (${clipped(code, 64)})`;
}

/** Name of a step, with its tool when that has another name. */
export function stepName({ key, tool }: Pick<StepFact, "key" | "tool">): string {
  return key === tool ? clipped(key, 80) : `${clipped(key, 80)} (${clipped(tool, 80)})`;
}

/** `server "shop"`, or "its server" if no server offers the tool now. */
export function serverName(server: string | undefined): string {
  return server === undefined ? "its server" : `server "${server}"`;
}
