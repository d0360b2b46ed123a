import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { stripVTControlCharacters, styleText } from "node:util";
import { visibleText as textWithCodes, unmarkNumbers, wholeCharacters } from "@planwright/plan";

/** A part of the screen that is redrawn. */
interface LiveView {
  draw(lines: readonly string[]): void;
  /** Removes it; the next output replaces it. */
  clear(): void;
}

/** Prints results. */
export interface Output {
  isTerminal: boolean;
  /** Width in characters; Infinity without a terminal: what is piped is whole. */
  columns: number;
  /** Height in lines. */
  rows: number;
  style: Style;
  print(lines: readonly string[]): void;
  /** One JSON document: on one line, or indented for people. */
  printJson(value: unknown, options?: { isIndented?: boolean }): void;
  /** Prints a text of any size as it is; on a terminal without characters that control it. */
  printStream(stream: Readable): Promise<void>;
  /** A note for people that is not a result: goes to standard error. */
  note(lines: readonly string[]): void;
  live(): Promise<LiveView>;
}

/** An output of a process, which may be a terminal. */
export type OutputStream = Writable & { isTTY?: boolean; columns?: number; rows?: number };

/** Output to the two streams of a process. */
export function createOutput(stdout: OutputStream, stderr: OutputStream, env: NodeJS.ProcessEnv): Output {
  const isTerminal = stdout.isTTY === true;
  const styleFor = (stream: OutputStream) =>
    wantsColour(env, stream.isTTY === true) ? colourStyle : plainStyle;
  return {
    isTerminal,
    get columns() {
      return isTerminal ? stdout.columns || 100 : Number.POSITIVE_INFINITY;
    },
    get rows() {
      return stdout.rows || 24;
    },
    style: styleFor(stdout),
    print: (lines) => void stdout.write(text(lines)),
    printJson: (value, { isIndented = false } = {}) =>
      void stdout.write(`${printableJson(value, isIndented ? 2 : undefined)}\n`),
    async printStream(stream) {
      const decoded = stream.setEncoding("utf8");
      for await (const part of decoded) {
        const shown = isTerminal ? visibleText(String(part)) : String(part);
        if (!stdout.write(shown)) await once(stdout, "drain");
      }
      stdout.write("\n");
    },
    note: (lines) => void stderr.write(text(lines)),
    async live() {
      // Imported on demand: it takes half of the program's start time.
      const { createLogUpdate } = await import("log-update");
      const update = createLogUpdate(stdout, { showCursor: false });
      return {
        draw: (lines) => update(text(lines).slice(0, -1)),
        clear: () => {
          update.clear();
          update.done();
        },
      };
    },
  };
}

function text(lines: readonly string[]): string {
  return lines.map((line) => `${safeLine(line)}\n`).join("");
}

/** The meaning of a text, which determines its colour. */
export type TextTone = "good" | "bad" | "attention" | "busy" | "quiet" | "strong";

/** Colours text, or leaves it as it is. */
export type Style = (tone: TextTone, text: string) => string;

const FORMATS: Readonly<Record<TextTone, Parameters<typeof styleText>[0]>> = {
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

/**
 * Makes untrusted text safe for a terminal: colours and cursor moves are removed, any other character that controls
 * it or cannot be seen is shown by its code.
 */
export function visibleText(text: string): string {
  return textWithCodes(stripVTControlCharacters(text));
}

/**
 * Untrusted text on one line of at most `maxLength` characters (default 300), so that it cannot forge a line
 * of the program.
 */
export function oneLine(text: string, maxLength = 300): string {
  const line = visibleText(wholeCharacters(text, 4 * maxLength))
    .replace(/\s+/gu, " ")
    .trim();
  return line.length > maxLength || text.length > 4 * maxLength
    ? `${wholeCharacters(line, maxLength)} …`
    : line;
}

/**
 * JSON text of exactly this value that is safe for a terminal: characters that would control it are escapes.
 */
export function printableJson(value: unknown, indent?: number): string {
  const text = unmarkNumbers(JSON.stringify(value, null, indent) ?? "null");
  return text.replace(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (found) =>
    [...Array(found.length).keys()]
      .map((index) => `\\u${found.charCodeAt(index).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

/** Our own colours; no other sequence that begins with an escape. */
const ESCAPE = String.fromCharCode(27);
const COLOUR = new RegExp(`(${ESCAPE}\\[\\d{1,3}m)`);

/**
 * Makes a line safe to print whatever it contains: colours are kept, and it stays one line. This is the last
 * check; untrusted text has passed through {@link oneLine} or {@link printableJson} before.
 */
export function safeLine(line: string): string {
  return line
    .split(COLOUR)
    .map((part, index) => (index % 2 === 1 ? part : visibleText(part).replace(/\n/g, " ")))
    .join("");
}
