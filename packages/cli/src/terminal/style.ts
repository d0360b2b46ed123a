import { styleText } from "node:util";

/** The meaning of a text, which determines its colour. */
export type Tone = "good" | "bad" | "attention" | "busy" | "quiet" | "strong";

/** Colours text, or leaves it as it is. */
export type Style = (tone: Tone, text: string) => string;

const FORMATS: Readonly<Record<Tone, Parameters<typeof styleText>[0]>> = {
  good: "green",
  bad: "red",
  attention: "yellow",
  busy: "cyan",
  quiet: "dim",
  strong: "bold",
};

/** Without colours. */
export const plainStyle: Style = (_, text) => text;

/** With colours, in the codes that every terminal supports. */
export const colourStyle: Style = (tone, text) => styleText(FORMATS[tone], text, { validateStream: false });

/**
 * Whether to colour: on a terminal, unless NO_COLOR is set to any text or TERM is dumb. FORCE_COLOR colours
 * also without a terminal; its value 0 turns colours off.
 * @see https://no-color.org
 */
export function wantsColour(env: NodeJS.ProcessEnv, isTerminal: boolean): boolean {
  if (env["NO_COLOR"]) return false;
  if (env["FORCE_COLOR"] !== undefined) return env["FORCE_COLOR"] !== "0";
  return isTerminal && env["TERM"] !== "dumb";
}
