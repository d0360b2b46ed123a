import { oneLine, printableJson } from "../terminal/visible-text.ts";

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

/** Milliseconds from one instant to another; null when one of them is not known. */
export function between(from: string | null, to: string | number | null): number | null {
  if (from === null || to === null) return null;
  return (typeof to === "number" ? to : Date.parse(to)) - Date.parse(from);
}

/** "1 step", "2 steps". */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** A JSON value on one line, cut at `maxLength` characters. Default 200. */
export function inlineJson(value: unknown, maxLength = 200): string {
  return oneLine(printableJson(value), maxLength);
}

/** "840 B", "12.3 KiB", "4.0 MiB", in bytes of 1,024. */
export function size(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  return bytes < 1_048_576 ? `${(bytes / 1_024).toFixed(1)} KiB` : `${(bytes / 1_048_576).toFixed(1)} MiB`;
}

/** What a tool or the API said, on one line. */
export function problem({ code, message }: { code: string; message: string }, maxLength = 300): string {
  return `${oneLine(message, maxLength)} (${oneLine(code, 64)})`;
}

/** Name of a step, with its tool when that has another name. */
export function stepName({ key, tool }: { key: string; tool: string }): string {
  return key === tool ? oneLine(key, 80) : `${oneLine(key, 80)} (${oneLine(tool, 80)})`;
}
