import type { Diagnosis } from "@planwright/client";
import type { Style, Tone } from "../terminal/style.ts";
import { oneLine } from "../terminal/visible-text.ts";
import type { CommandLine } from "./command-line.ts";

/** An action: a sentence, with the command to type if there is one. */
export interface NextStep {
  instruction: string;
  command?: string | undefined;
}

/** The diagnosis of a request as it is printed; an operator reads it first. */
export interface PrintedDiagnosis {
  tone: Tone;
  /** One line that names the cause. */
  cause: string;
  /** The reasons, at most three lines. */
  why: readonly string[];
  /** What to do, best first, at most two. */
  next: readonly NextStep[];
}

const TONES: Readonly<Record<string, Tone>> = {
  NONE: "good",
  PROGRESS: "busy",
  ATTENTION: "attention",
  FAILURE: "bad",
};

/** The API's diagnosis with commands that can be typed. Pure. */
export function printedDiagnosis(
  { cause, reasons, next }: Diagnosis,
  command: CommandLine,
): PrintedDiagnosis {
  return {
    tone: TONES[cause.severity] ?? "attention",
    cause: oneLine(cause.message, 400),
    why: reasons.slice(0, 3).map((reason) => oneLine(reason, 400)),
    next: next.slice(0, 2).map(({ description, command: words }) => ({
      instruction: oneLine(description),
      command: words.length > 0 ? command(...words) : undefined,
    })),
  };
}

/** Cause, reasons and what to do: eight lines at most, where each action is one sentence with its command. */
export function diagnosisLines({ tone, cause, why, next }: PrintedDiagnosis, style: Style): string[] {
  return [
    `${style("strong", "Cause")}   ${style(tone, cause)}`,
    ...labelled("Why", why, style),
    ...labelled(
      "Next",
      next.flatMap(({ instruction, command }) => [
        instruction,
        ...(command === undefined ? [] : [`  ${style("busy", command)}`]),
      ]),
      style,
    ),
  ];
}

function labelled(label: string, lines: readonly string[], style: Style): string[] {
  return lines.map((line, index) =>
    index === 0 ? `${style("strong", label)}${" ".repeat(8 - label.length)}${line}` : `        ${line}`,
  );
}
