import { stripVTControlCharacters } from "node:util";

/** What a server wrote last, at most. */
const MAX_LINES = 20;
const MAX_CHARACTERS = 2_000;
/** Read until something else is said of it: escapes and invisible characters go later. */
const MAX_KEPT = 8_192;

/** Control characters but the line break, format characters, line separators, lone surrogates. */
const NOT_VISIBLE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** The end of what a process writes to its standard error, also over its restarts. */
export interface LastWords {
  /** Another process takes its place; until it writes something, the words of the one before count. */
  begin(): void;
  add(chunk: string): void;
  /** All is well: what was written before says nothing any more. */
  forget(): void;
  /** The last lines as text without colours and control characters, at most 20 lines and 2,000 characters; empty for silent processes. */
  text(): string;
}

/** Listens to a process, in bounded memory. */
export function createLastWords(): LastWords {
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
