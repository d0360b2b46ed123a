/**
 * Finds many forms of secrets in one pass over a text, in time linear in its length and independent of their
 * number.
 *
 * It looks at every fourth position of the text. Usually the three characters there are part of no form,
 * which a table shows at once; otherwise they are compared with the form. A form has at least six characters,
 * so one such position is within its first six characters and one within its last six.
 */
import { MIN_FORM_LENGTH, MIN_SECRET_LENGTH } from "./secret-forms.ts";

/** The range of a match: from `from` up to, but excluding, `to`. */
export interface Found {
  from: number;
  to: number;
  /** It counts only as a separate word. */
  isWord: boolean;
  /**
   * It is a part of a form. If it extends into the next text by only a few characters, these match by chance.
   */
  isPiece: boolean;
}

/** Searches for forms of secrets. */
export interface SecretScanner {
  /**
   * Finds complete forms, and pieces of them where a text was cut or split: at least the first or last half
   * of a form, or eight characters next to an ellipsis. In a text that has a piece, six characters are
   * enough.
   */
  find(text: string): Found[];
}

const STEP = 4;
const TRIPLE = 3;
const BUCKETS = 65_536;

/** @param forms - without white space, of at least six characters each */
export function createSecretScanner(forms: readonly string[]): SecretScanner {
  /** Shows for most triples at once that they are part of no form. */
  const isKnown = new Uint8Array(BUCKETS);
  const offsetsByTriple = new Map<string, { form: string; offset: number }[]>();
  for (const form of forms) {
    const last = form.length - MIN_SECRET_LENGTH;
    for (const offset of new Set([0, 1, 2, 3, last, last + 1, last + 2, last + 3])) {
      isKnown[bucketOf(form, offset)] = 1;
      const triple = form.slice(offset, offset + TRIPLE);
      const known = offsetsByTriple.get(triple);
      if (known) known.push({ form, offset });
      else offsetsByTriple.set(triple, [{ form, offset }]);
    }
  }

  function find(all: string, hasPieces: boolean): Found[] {
    const found: Found[] = [];
    let isPiece = false;
    for (let at = 0; at + TRIPLE <= all.length; at += STEP) {
      if (isKnown[bucketOf(all, at)] === 0) continue;
      for (const place of offsetsByTriple.get(all.slice(at, at + TRIPLE)) ?? []) {
        const run = runOf(all, at, place);
        if (!run) continue;
        const { form } = place;
        const isWord = form.length < MIN_FORM_LENGTH;
        const isComplete = run.to - run.from === form.length;
        if (!isComplete && (isWord || !(hasPieces || isPieceOf(form, run, all)))) continue;
        if (!isComplete) isPiece = true;
        found.push({ from: run.from, to: run.to, isWord, isPiece: !isComplete });
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
  /** True when it begins the form; otherwise it ends it. */
  isHead: boolean;
}

/** The common part of text and form around a position, when it begins or ends the form. */
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

/** True for a beginning or end of a form that is long enough to count. */
function isPieceOf(form: string, { from, to, isHead }: Run, all: string): boolean {
  const length = to - from;
  if (length < MIN_FORM_LENGTH) return false;
  if (length * 2 >= form.length) return true;
  if (isHead) return all.startsWith("...", to) || all[to] === "…";
  return all.slice(Math.max(0, from - 3), from) === "..." || all[from - 1] === "…";
}
