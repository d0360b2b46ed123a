import { oneLine, printableJson } from "../terminal/visible-text.ts";

/** Milliseconds from one instant to another; null when one of them is unknown. */
export function between(from: string | null, to: string | number | null): number | null {
  if (from === null || to === null) return null;
  return (typeof to === "number" ? to : Date.parse(to)) - Date.parse(from);
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

/** The message and code of an error, on one line. */
export function problem({ code, message }: { code: string; message: string }, maxLength = 300): string {
  return `${oneLine(message, maxLength)} (${oneLine(code, 64)})`;
}

/** The name of a step, with the name of its tool if they differ. */
export function stepName({ key, tool }: { key: string; tool: string }): string {
  return key === tool ? oneLine(key, 80) : `${oneLine(key, 80)} (${oneLine(tool, 80)})`;
}

/** The warning of a step whose output is not as its tool declares it; empty without one. */
export function unexpectedNote(warnings: readonly string[], maxLength: number): string[] {
  const odd = warnings.find((text) => text.startsWith("OUTPUT_UNEXPECTED"));
  return odd === undefined ? [] : [oneLine(odd, maxLength)];
}

/** An instant as RFC 3339 text without the part of a second. */
export function toSecond(instant: string): string {
  return instant.replace(/\.\d+Z$/, "Z");
}
