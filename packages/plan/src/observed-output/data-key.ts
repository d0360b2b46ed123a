import { FORBIDDEN_KEYS } from "../json/own-property.ts";
import { holdsCredential } from "../secrets/credential.ts";

const MAX_NAME = 64;
const MAX_WORD = 24;
const MAX_DIGITS = 3;
/**
 * The form of field names, in any script. They have no space, dot, colon or `@`, unlike names of people,
 * hosts, files and addresses.
 */
const NAME = /^[\p{L}_$][\p{L}\p{M}\p{N}_$-]*$/u;
const HEXADECIMAL = /^[0-9a-f]{8,}$/i;
const CAPITALS_AND_DIGITS = /^(?=.*\d)[A-Z0-9_-]{6,}$/;

/**
 * True for keys that are data instead of field names, only by their form: ids, addresses, dates, texts with
 * spaces, credentials. In doubt a key is data: a missing field name only costs a hint, but a stored address
 * would expose a person.
 */
export function isDataKey(key: string): boolean {
  if (key.length > MAX_NAME || !NAME.test(key) || FORBIDDEN_KEYS.has(key)) return true;
  if (HEXADECIMAL.test(key) || CAPITALS_AND_DIGITS.test(key)) return true;
  return hasManyDigits(key) || isScrambled(key) || holdsCredential(key);
}

/** True for more digits than in `sha256`, or alternating letters and digits. */
function hasManyDigits(key: string): boolean {
  const runs = key.match(/\p{N}+/gu) ?? [];
  return runs.length > 2 || runs.join("").length > MAX_DIGITS;
}

/** True for a very long word, or too many short words for a name. */
function isScrambled(key: string): boolean {
  const words = key.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{Lo}+/gu) ?? [];
  if (words.some((word) => word.length > MAX_WORD)) return true;
  const letters = words.reduce((sum, word) => sum + word.length, 0);
  return words.length >= 6 && letters < words.length * 2.5;
}
