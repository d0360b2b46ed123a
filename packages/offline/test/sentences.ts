import { readFileSync } from "node:fs";
import type { ToolDescriptor } from "@planwright/plan";
import { BLOG } from "../../models/test/catalogues/blog.ts";
import { CALENDAR_AND_MAIL } from "./catalogues/calendar-and-mail.ts";
import { FILES_AND_ISSUES } from "./catalogues/files-and-issues.ts";
import { SHOP } from "./catalogues/shop.ts";
import { WEATHER } from "./catalogues/weather.ts";

/** The catalogues of `sentences.txt`. */
export const CATALOGUES: Readonly<Record<string, ToolDescriptor[]>> = {
  blog: BLOG,
  files: FILES_AND_ISSUES,
  mail: CALENDAR_AND_MAIL,
  shop: SHOP,
  weather: WEATHER,
};

/** A sentence of `sentences.txt` with its catalogue. */
export interface Sentence {
  catalogue: string;
  query: string;
  /**
   * The answer, a line each: steps (`id arguments after ids`), missing values (`? tool.parameter, not "words"`)
   * or the reason of the refusal (`! reason`).
   */
  answer: string[];
}

/** The sentences of `sentences.txt`: "# catalogue", sentences at the line's start, their answers indented. */
export const SENTENCES: readonly Sentence[] = readSentences();

function readSentences(): Sentence[] {
  const sentences: Sentence[] = [];
  let catalogue = "";
  for (const line of readFileSync(new URL("sentences.txt", import.meta.url), "utf8")
    .trimEnd()
    .split("\n")) {
    if (line.startsWith("# ")) catalogue = line.slice(2);
    else if (line.startsWith("  ")) sentences.at(-1)?.answer.push(line.trim());
    else sentences.push({ catalogue, query: line, answer: [] });
  }
  return sentences;
}
