import { datesSaidIn } from "../moment/date-values.ts";
import { createQueryWords } from "./query-words.ts";

/** Checks whether a request contains a value. */
export interface SaidValues {
  /** True when the request contains the number, in digits or as a word, also as percent or thousands. */
  hasNumber(value: number): boolean;
  /** True when it mentions any number, amount, date or time, from which another may be computed. */
  speaksOfNumbers: boolean;
  /** The full dates in it, as YYYY-MM-DD; all readings of ambiguous dates. */
  dates: ReadonlySet<string>;
  /** True when it contains the complete text. */
  contains(text: string): boolean;
  /** True when it contains a word of the text, in any form. */
  shares(text: string): boolean;
  /** True when it contains every word and every number of the text. */
  sharesAll(text: string): boolean;
}

const NUMBER_WORDS: readonly string[] =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split(
    " ",
  );
/** Words from which a number, a date or a time can be computed. */
const SPEAKS_OF_NUMBERS =
  /\d|\b(?:half|quarter|third|dozen|couple|pair|few|several|double|twice|triple|hundred|thousand|million|percent|max(?:imum)?|min(?:imum)?|all|every|each|first|last|second|top|full|today|tonight|tomorrow|yesterday|now|noon|midnight|morning|evening|afternoon|night|day|daily|week|weekly|weekend|month|monthly|year|yearly|hour|hourly|minute|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october|november|december|thirty|forty|fifty|sixty|seventy|eighty|ninety)s?\b/;
/** Letters of scripts for which no rule here recognizes numbers and names. */
const OTHER_SCRIPT = /[^\P{L}\p{Script=Latin}]/u;

/** Indexes a request. */
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

/** Sequences of letters and sequences of digits. */
function wordsOf(text: string): string[] {
  return text.match(/\p{L}+|\p{N}+/gu) ?? [];
}

/** True for two forms of one word: they differ only in a short ending. */
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
