import { isJsonObject, type JsonObject } from "../json/json.ts";
import { containsAsWords, wordContinues } from "../notation/word-boundary.ts";
import { toSegment } from "../schema/fit-texts.ts";
import { schemaAtPath } from "../schema/schema-paths.ts";
import { normalText } from "./query-words.ts";
import type { SaidValues } from "./said-values.ts";

/** Only the beginning of a description is checked, in characters. */
const MAX_DESCRIPTION = 5_000;
/** Longer values are not codes. */
const MAX_CODE = 40;
/** Maximum number of occurrences of a code in one description. */
const MAX_PLACES = 50;

const MEANING = String.raw`([^,;.|\n()=:"'\`]{1,60})`;
/** `'1' is Bangkok`, `1 = Bangkok`, `1: Bangkok`, `1 (Bangkok)`. */
const AFTER = new RegExp(
  String.raw`^["'\`]?\s*(?:(?:is|are|means|stands for|represents|denotes|indicates|for|->|=>|→|=|:|-|–)\s|[=:(])\s*(?:the )?["'\`]?${MEANING}`,
);
/** `Bangkok (1)`, `Bangkok: 1`, `Bangkok is '1'`. */
const BEFORE = new RegExp(
  String.raw`(?:^|[,;.|\n()=:])\s*(?:(?:and|or|use|the) )*["'\`]?${MEANING}["'\`]?\s*(?:\s(?:is|are|->|=>|→|-|–)\s|[=:(])\s*["'\`]?$`,
);

/**
 * True for a code that the description of its parameter explains with words of the request: with "'1' is
 * Bangkok", `1` is the value for a request with Bangkok.
 * @param schema - schema of the call's arguments
 * @param keys - path from the arguments to the value
 */
export function isExplainedCode(
  value: string | number,
  { schema, keys }: { schema: JsonObject; keys: readonly (string | number)[] },
  said: SaidValues,
): boolean {
  const code = normalText(String(value));
  if (code === "" || code.length > MAX_CODE) return false;
  const found = schemaAtPath(schema, keys.map(toSegment));
  return (found.type === "known" ? found.schemas : []).some((each) => {
    const description = isJsonObject(each) ? each["description"] : undefined;
    return (
      typeof description === "string" && isExplainedIn(description.slice(0, MAX_DESCRIPTION), code, said)
    );
  });
}

function isExplainedIn(description: string, code: string, said: SaidValues): boolean {
  const text = normalText(description);
  if (!containsAsWords(text, code)) return false;
  let at = text.indexOf(code);
  for (let count = 0; at !== -1 && count < MAX_PLACES; at = text.indexOf(code, at + code.length), count++) {
    const end = at + code.length;
    const continues =
      wordContinues(text.charAt(at - 1), code.charAt(0)) ||
      wordContinues(code.charAt(code.length - 1), text.charAt(end));
    if (continues) continue;
    const meanings = [
      AFTER.exec(text.slice(end, end + 100))?.[1],
      BEFORE.exec(text.slice(Math.max(0, at - 100), at))?.[1],
    ];
    if (meanings.some((meaning) => meaning !== undefined && isSaid(meaning, said))) return true;
  }
  return false;
}

/**
 * True when the request contains the meaning. Without a separator the next code is at its end: "1 = Bangkok 2
 * = Phuket".
 */
function isSaid(meaning: string, said: SaidValues): boolean {
  const words = meaning.trim();
  const parted = words.replace(/(?:\s(?:and|or))?\s["'`]?[\p{N}]+$|\s(?:and|or)$/u, "");
  return [words, parted].some(
    (each) => /\p{L}{2}/u.test(each) && (said.contains(each) || said.sharesAll(each)),
  );
}
