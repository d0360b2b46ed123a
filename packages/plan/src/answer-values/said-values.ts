import { datesSaidIn } from "../moment/date-values.ts";
import { createQueryWords } from "./query-words.ts";

/** What of a value stands in a request. */
export interface SaidValues {
  /** True when the number stands there, in digits or as a word, whole or in percent or thousands. */
  hasNumber(value: number): boolean;
  /** True when it speaks of any number, amount, date or time, so that one may be worked out from it. */
  speaksOfNumbers: boolean;
  /** The dates that it says in full, YYYY-MM-DD; every reading of those that have several. */
  dates: ReadonlySet<string>;
  /** True when the text stands there as a whole. */
  contains(text: string): boolean;
  /** True when a word of the text, in any form of it, stands there. */
  shares(text: string): boolean;
  /** True when every word and every number of the text does. */
  sharesAll(text: string): boolean;
}

const NUMBER_WORDS: readonly string[] =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split(
    " ",
  );
/** Words from which a number, a date or a time is worked out. */
const SPEAKS_OF_NUMBERS =
  /\d|\b(?:half|quarter|third|dozen|couple|pair|few|several|double|twice|triple|hundred|thousand|million|percent|max(?:imum)?|min(?:imum)?|all|every|each|first|last|second|top|full|today|tonight|tomorrow|yesterday|now|noon|midnight|morning|evening|afternoon|night|day|daily|week|weekly|weekend|month|monthly|year|yearly|hour|hourly|minute|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october|november|december|thirty|forty|fifty|sixty|seventy|eighty|ninety)s?\b/;
/** Letters of which no rule here knows how numbers and names are written in them. */
const OTHER_SCRIPT = /[^\P{L}\p{Script=Latin}]/u;

/** Prepares a request. */
export function createSaidValues(query: string): SaidValues {
  const plain = query.normalize("NFKC").toLowerCase();
  const words = createQueryWords(query);
  const said = [...new Set(wordsOf(plain))];
  const numbers = numbersIn(plain);
  const isOther = OTHER_SCRIPT.test(plain);
  const isSaid = (word: string): boolean => said.some((each) => isSameWord(each, word));
  return {
    hasNumber: (value) => numbers.has(value) || (isOther && !/\d/.test(plain)),
    speaksOfNumbers:
      isOther || SPEAKS_OF_NUMBERS.test(plain) || said.some((word) => NUMBER_WORDS.includes(word)),
    dates: datesSaidIn(query),
    contains: (text) => words.contains(text),
    shares: (text) => isOther || wordsOf(text.normalize("NFKC").toLowerCase()).some(isSaid),
    sharesAll: (text) => {
      const parts = wordsOf(text.normalize("NFKC").toLowerCase());
      return (
        parts.length > 0 &&
        parts.every((part) => (/^\d+$/.test(part) ? said.includes(part) : isOther || isSaid(part)))
      );
    },
  };
}

/** Runs of letters, and runs of digits. */
function wordsOf(text: string): string[] {
  return text.match(/\p{L}+|\p{N}+/gu) ?? [];
}

/** The same word in two forms: one begins with the other, but for an ending. */
function isSameWord(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  if (short === long) return true;
  const stem = short.replace(/(?:e|y|s)$/, "");
  return stem.length >= 3 && long.startsWith(stem);
}

function numbersIn(text: string): Set<number> {
  const numbers = new Set<number>();
  for (const [, digits = "", unit] of text.matchAll(
    /(\d[\d,' ]*(?:\.\d+)?)\s?(%|percent|k\b|thousand|million)?/g,
  )) {
    const whole = Number(digits.replace(/[,' ](?=\d{3}(?:\D|$))/g, "").split(/[,' ]/)[0]);
    for (const part of [whole, ...digits.split(/[,' ]+/).map(Number)]) {
      numbers.add(part);
      if (unit === "%" || unit === "percent") numbers.add(part / 100);
      if (unit === "k" || unit === "thousand") numbers.add(part * 1_000);
      if (unit === "million") numbers.add(part * 1_000_000);
    }
  }
  for (const word of wordsOf(text)) {
    const value = NUMBER_WORDS.indexOf(word);
    if (value !== -1) numbers.add(value);
  }
  return numbers;
}
