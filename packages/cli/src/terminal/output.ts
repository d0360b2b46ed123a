import { once } from "node:events";
import type { Readable } from "node:stream";
import { colourStyle, plainStyle, type Style, wantsColour } from "./style.ts";
import { printableJson, safeLine, visibleText } from "./visible-text.ts";

/** A part of the screen that is drawn again and again. */
export interface LiveView {
  draw(lines: readonly string[]): void;
  /** Removes it; the next output is printed in its place. */
  clear(): void;
}

/** Where results go. */
export interface Output {
  isTerminal: boolean;
  /** Width in characters; 100 where there is no terminal. */
  columns: number;
  /** Height in lines. */
  rows: number;
  style: Style;
  print(lines: readonly string[]): void;
  /** One JSON document: on one line, or indented for people. */
  printJson(value: unknown, options?: { isIndented?: boolean }): void;
  /** What is too large to be held: as it is, but for characters that act on a terminal where there is one. */
  printStream(stream: Readable): Promise<void>;
  /** For people only, beside the results: goes to standard error. */
  note(lines: readonly string[]): void;
  live(): Promise<LiveView>;
}

/** Output to the two streams of a process. */
export function createOutput(
  stdout: NodeJS.WriteStream,
  stderr: NodeJS.WriteStream,
  env: NodeJS.ProcessEnv,
): Output {
  const isTerminal = stdout.isTTY === true;
  const styleFor = (stream: NodeJS.WriteStream) =>
    wantsColour(env, stream.isTTY === true) ? colourStyle : plainStyle;
  return {
    isTerminal,
    get columns() {
      return stdout.columns || 100;
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
      // Half of what it takes to start would be for this alone.
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
