/**
 * Finds many forms of secrets in one pass over a text, in time linear in its length whatever their number.
 *
 * Every fourth place of the text is looked at: the three characters there either stand in no form, which a table says at once, or in
 * one, which is then compared. A form has at least six characters, so its first six and its last six are met by such a place.
 */
import { MIN_FORM_LENGTH, MIN_SECRET_LENGTH } from "./secret-forms.ts";

/** Where something was found: from this place up to, and without, that one. */
export interface Found {
  from: number;
  to: number;
  /** It counts as a word of its own only. */
  isWord: boolean;
  /** It is a part of a form: where it goes over into the next text with a few characters, they stand there by chance. */
  isPiece: boolean;
}

/** Looks for forms of secrets. */
export interface SecretScanner {
  /**
   * Finds whole forms, and pieces of them where a text was cut or divided: the first half of a form or more, or the last half, and eight characters
   * of one beside an ellipsis. In a text with a piece six characters are enough.
   */
  find(text: string): Found[];
}

const STEP = 4;
const TRIPLE = 3;
const BUCKETS = 65_536;

/** @param forms - without white space, of at least six characters each */
export function createSecretScanner(forms: readonly string[]): SecretScanner {
  /** Says at once of most triples that they stand in no form. */
  const isKnown = new Uint8Array(BUCKETS);
  const places = new Map<string, { form: string; offset: number }[]>();
  for (const form of forms) {
    const last = form.length - MIN_SECRET_LENGTH;
    for (const offset of new Set([0, 1, 2, 3, last, last + 1, last + 2, last + 3])) {
      isKnown[bucketOf(form, offset)] = 1;
      const triple = form.slice(offset, offset + TRIPLE);
      const known = places.get(triple);
      if (known) known.push({ form, offset });
      else places.set(triple, [{ form, offset }]);
    }
  }

  function find(all: string, hasPieces: boolean): Found[] {
    const found: Found[] = [];
    let isPiece = false;
    for (let at = 0; at + TRIPLE <= all.length; at += STEP) {
      if (isKnown[bucketOf(all, at)] === 0) continue;
      for (const place of places.get(all.slice(at, at + TRIPLE)) ?? []) {
        const run = runOf(all, at, place);
        if (!run) continue;
        const { form } = place;
        const isWord = form.length < MIN_FORM_LENGTH;
        const isWhole = run.to - run.from === form.length;
        if (!isWhole && (isWord || !(hasPieces || isPieceOf(form, run, all)))) continue;
        if (!isWhole) isPiece = true;
        found.push({ from: run.from, to: run.to, isWord, isPiece: !isWhole });
      }
    }
    return isPiece && !hasPieces ? find(all, true) : found;
  }

  return { find: (text) => find(text, false) };
}

function bucketOf(text: string, at: number): number {
  const triple = (text.charCodeAt(at) << 16) ^ (text.charCodeAt(at + 1) << 8) ^ text.charCodeAt(at + 2);
  return Math.imul(triple, 0x9e_37_79_b1) >>> 16;
}

interface Run {
  from: number;
  to: number;
  /** It begins the form; otherwise it ends it. */
  isHead: boolean;
}

/** What text and form have in common around a place, when it begins or ends the form. */
function runOf(all: string, at: number, { form, offset }: { form: string; offset: number }): Run | undefined {
  const isSame = (step: number): boolean => all.charCodeAt(at + step) === form.charCodeAt(offset + step);
  let before = 0;
  while (before < offset && isSame(-before - 1)) before += 1;
  let length = TRIPLE;
  while (offset + length < form.length && isSame(length)) length += 1;
  if (before + length < MIN_SECRET_LENGTH) return undefined;
  const isHead = before === offset;
  if (!isHead && offset + length < form.length) return undefined;
  return { from: at - before, to: at + length, isHead };
}

/** True for the beginning or the end of a form that is long enough to count. */
function isPieceOf(form: string, { from, to, isHead }: Run, all: string): boolean {
  const length = to - from;
  if (length < MIN_FORM_LENGTH) return false;
  if (length * 2 >= form.length) return true;
  if (isHead) return all.startsWith("...", to) || all[to] === "…";
  return all.slice(Math.max(0, from - 3), from) === "..." || all[from - 1] === "…";
}
