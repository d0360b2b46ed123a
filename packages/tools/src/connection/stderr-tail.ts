import { stripVTControlCharacters } from "node:util";

/** Bounds of the shown output. */
const MAX_LINES = 20;
const MAX_CHARACTERS = 2_000;
/** Bytes that are kept. Escapes and invisible characters among them are removed when the text is shown. */
const MAX_KEPT = 8_192;

/** Control characters except the line break, format characters, line separators, lone surrogates. */
const NOT_VISIBLE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** The end of the standard error of a server's process, across restarts. */
export interface StderrTail {
  /** Another process is started. Until it writes something, the output of the previous one is shown. */
  begin(): void;
  add(chunk: string): void;
  /** The server is connected, so its earlier output is not needed. */
  forget(): void;
  /**
   * The last lines as text without colours and control characters, at most 20 lines and 2,000 characters;
   * empty for a process that wrote nothing.
   */
  text(): string;
}

/** Keeps the output of a process, in bounded memory. */
export function createStderrTail(): StderrTail {
  let kept = "";
  let earlier = "";
  const text = () => lastLines(kept) || earlier;
  return {
    begin() {
      earlier = text();
      kept = "";
    },
    add(chunk) {
      kept = (kept + chunk).slice(-MAX_KEPT);
    },
    forget() {
      earlier = "";
      kept = "";
    },
    text,
  };
}

function lastLines(text: string): string {
  const clean = stripVTControlCharacters(text).replace(/\r\n?/g, "\n").replace(/\t/g, "  ");
  const lines = clean
    .replace(NOT_VISIBLE, "")
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "");
  const last = lines.slice(-MAX_LINES).join("\n");
  return last.length <= MAX_CHARACTERS ? last : `…${last.slice(1 - MAX_CHARACTERS)}`;
}
