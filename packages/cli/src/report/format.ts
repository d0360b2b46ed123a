import {
  commandLine,
  type RequestRun,
  type StepRun,
  type StepValues,
  settlementText,
} from "@planwright/client";
import { type StateTone, sizeText, stateLook } from "@planwright/plan";
import { oneLine, printableJson, type TextTone } from "../terminal.ts";

/** Milliseconds from one instant to another; null when one of them is unknown. */
export function between(from: string | null, to: string | number | null): number | null {
  if (from === null || to === null) return null;
  return (typeof to === "number" ? to : Date.parse(to)) - Date.parse(from);
}

/** A JSON value on one line, cut at `maxLength` characters. Default 200. */
export function inlineJson(value: unknown, maxLength = 200): string {
  return oneLine(printableJson(value), maxLength);
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

/** The symbol and tone of a status. */
interface Mark {
  symbol: string;
  tone: TextTone;
}

const TONES: Readonly<Record<StateTone, TextTone>> = {
  good: "good",
  bad: "bad",
  active: "busy",
  attention: "attention",
  quiet: "quiet",
};

/**
 * The mark of a plan, step or request; a plain one for an unknown status: the API may be newer.
 */
export function markOf(
  kind: "step" | "plan" | "request",
  state: { status: string; waitReason?: string | null },
): Mark {
  const { mark, tone } = stateLook(kind, state);
  return { symbol: mark, tone: TONES[tone] };
}

/** Most characters of the preview. */
const MAX_PREVIEW = 60;

/** An output that is too large to show: its size, its beginning, and the command that prints it. Pure. */
export function largeOutput(
  { ref, sizeBytes, preview }: NonNullable<StepValues["outputReference"]>,
  command: CommandLine,
): string {
  const size = sizeBytes === null ? "large" : sizeText(sizeBytes);
  return `(${size}${preview === null ? "" : `: ${oneLine(preview, MAX_PREVIEW)}`}) ${command("output", ref)}`;
}

/** What happens while a plan is being made; for a model that is away, since when and how long it is tried. */
export function planningText({
  waitReason,
  modelWait,
}: Pick<RequestRun, "waitReason" | "modelWait">): string {
  if (!modelWait || waitReason === "no worker")
    return stateLook("request", { status: "PLANNING", waitReason }).word;
  const { error, since, nextAttemptAt, until } = modelWait;
  const next = waitReason === null ? "tried again now" : `next try at ${nextAttemptAt}`;
  return `planning waits for the model, away since ${since}: ${oneLine(error.message, 160)} (${oneLine(error.code, 64)}); ${next}; given up at ${until}`;
}

/** Makes a command that a user can copy, such as `planwright watch req_…`. */
export type CommandLine = (...words: string[]) => string;

/**
 * @param program - how this program was called, such as "npx planwright"
 * @param url - the value of --url, so that the next command uses the same API
 */
export function createCommandLine({
  program,
  url,
}: {
  program: string;
  url?: string | undefined;
}): CommandLine {
  const options = url === undefined ? [] : ["--url", url];
  return (...words) => `${program} ${commandLine(...words, ...options)}`;
}

/** How an operator settled a step's doubt, for a terminal; empty if the tool gave the result. */
export function settledNote({
  settled,
}: {
  settled: Pick<NonNullable<StepRun["settled"]>, "by" | "resolution"> | null;
}): string[] {
  return settled ? [oneLine(settlementText(settled), 120)] : [];
}
