/**
 * The meaning of names in foreign notations. Ids win, as in our own notation; then tools, labels, and
 * positions in the plan (`1`, `step 2`, `E3`) count. Only an unambiguous name is a reference.
 */
import { lookUp } from "../json/json.ts";
import type { Names } from "../reference/read-reference.ts";

/** A step with its names in the written plan. */
interface NamedStep {
  readonly id: string;
  /** The written id, when it is not valid in a plan. */
  readonly writtenId: string | undefined;
  readonly hasOwnId: boolean;
  /** Further names of the step's output. */
  readonly labels: readonly string[];
  /** Position in the document, from 0; negative for a step that is not in the document. */
  readonly position: number;
}

/** The context of a name. */
export interface NamePlace {
  readonly step: NamedStep | undefined;
  /** Explicit dependencies of the step. */
  readonly dependsOn: readonly string[];
  readonly hasScope: (name: string) => boolean;
}

/** The meaning of a name. */
export interface NameReading {
  /**
   * `marked`: a name that is not a word, such as `s1`, `E1`, `1`; `word`: an id that may be a word; `tool`: a
   * tool or a label; `scope`: a name of a forEach.
   */
  readonly kind: "marked" | "word" | "tool" | "scope";
  /** Ids of steps; several when the name is ambiguous. */
  readonly ids: readonly string[];
  /** True when the numbering is ambiguous. */
  readonly isDoubtful: boolean;
}

/** Finds steps by name. */
export interface StepNames {
  read(name: string, place: NamePlace): NameReading | undefined;
  /** The step at a position from 0. */
  at(position: number): NameReading | undefined;
}

const AFTER_WORD =
  /^(?:step|steps|task|node|var|call|result|output|action|observation|obs|tool|plan|id)?[ _-]?#?([0-9]{1,4})$/i;
const AFTER_LETTER = /^[Est][ _-]?([0-9]{1,4})$/;
const PREVIOUS = new Set(
  "$json $input $prev $previous previous prev last previous_step prev_step last_step previous_output previous_result last_result last_output".split(
    " ",
  ),
);

/** True for a name of the previous step with a sign: `$json` and `$input` are also names in other languages. */
export function isPreviousName(name: string | { readonly position: number }): boolean {
  return typeof name === "string" && name.startsWith("$") && PREVIOUS.has(name.toLowerCase());
}

/**
 * True for a name that does not occur in text by chance: a number, alone or after a word for a step, or a
 * name with a sign.
 */
function isMarked(name: string): boolean {
  return numberIn(name) !== undefined || /^[$#@%]|[0-9][A-Za-z]|[A-Za-z][0-9]|:/.test(name);
}

/**
 * @param given - number of given steps at the beginning that are not in the document: positions are counted
 *   without them and with them
 */
export function createStepNames(steps: readonly NamedStep[], names: Names, given = 0): StepNames {
  const written = writtenNames(steps);
  const labels = labelsOf(steps);
  const numbering = numberingOf(steps, given);
  const byPosition = new Map(steps.map(({ id, position }) => [position, id]));

  function readId(name: string, { hasScope }: NamePlace): NameReading | undefined {
    const kind = isMarked(name) ? "marked" : "word";
    if (hasScope(name)) return { kind: "scope", ids: [name], isDoubtful: false };
    if (names.hasStep(name)) return { kind, ids: [name], isDoubtful: false };
    const id = written.get(name);
    return id === undefined ? undefined : { kind, ids: [id], isDoubtful: false };
  }

  function readOther(name: string, place: NamePlace): NameReading | undefined {
    const users = names.tools && lookUp(names.tools, name);
    const ofTool = typeof users === "string" ? [users] : (users ?? []);
    const numbered = numbering.read(name);
    const previous = PREVIOUS.has(name.toLowerCase()) ? previousOf(place) : undefined;
    const ofLabel = othersOf(labels.get(name) ?? [], place.step?.id);
    const ids = [...new Set([...ofTool, ...ofLabel, ...(numbered?.ids ?? []), ...(previous?.ids ?? [])])];
    if (ids.length === 0) return undefined;
    // `{last}` and `$prev` are also words of other texts.
    const isSigned = previous !== undefined && isPreviousName(name);
    const isMark = numbered !== undefined || isSigned || (ofLabel.length > 0 && isMarked(name));
    const isDoubtful = numbered?.isDoubtful === true || previous?.isDoubtful === true;
    return { kind: isMark ? "marked" : "tool", ids, isDoubtful };
  }

  function previousOf({ step, dependsOn }: NamePlace): NameReading | undefined {
    if (!step || step.position <= 0) return undefined;
    const [only, ...others] = dependsOn.flatMap((name) =>
      names.hasStep(name) ? [name] : (written.get(name) ?? []),
    );
    const before = byPosition.get(step.position - 1);
    if (only !== undefined && others.length === 0) return { kind: "marked", ids: [only], isDoubtful: false };
    if (before === undefined) return undefined;
    return { kind: "marked", ids: [before], isDoubtful: step.position !== 1 || dependsOn.length > 0 };
  }

  return {
    read: (name, place) => readId(name, place) ?? readOther(name, place),
    at: (position) => {
      const id = byPosition.get(position + given);
      return id === undefined ? undefined : { kind: "marked", ids: [id], isDoubtful: given > 0 };
    },
  };
}

/**
 * The ids without the step itself, if others remain: a step cannot use its own output, so a shared label
 * means the other step.
 */
function othersOf(ids: readonly string[], own: string | undefined): readonly string[] {
  const others = ids.filter((id) => id !== own);
  return others.length > 0 ? others : ids;
}

/** Written ids; those with a leading sign also without it. */
function writtenNames(steps: readonly NamedStep[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const renamed = steps.flatMap(({ id, writtenId }) => (writtenId === undefined ? [] : [{ id, writtenId }]));
  for (const { id, writtenId } of renamed) names.set(writtenId, id);
  for (const { id, writtenId } of renamed) {
    const bare = writtenId.replace(/^[$#@%]/, "");
    if (!names.has(bare)) names.set(bare, id);
  }
  return names;
}

function labelsOf(steps: readonly NamedStep[]): ReadonlyMap<string, readonly string[]> {
  const labels = new Map<string, string[]>();
  for (const { id, labels: own } of steps) {
    for (const name of new Set(own.flatMap((label) => [label, label.replace(/^[$#@%]/, "")]))) {
      labels.set(name, [...(labels.get(name) ?? []), id]);
    }
  }
  return labels;
}

/**
 * Numbers of steps: by numbered ids (`s1`, `2`) and by positions from 1. When all ids are numbered in plan
 * order, only they count; otherwise a number is unambiguous only when both agree, or when no id has it.
 */
function numberingOf(steps: readonly NamedStep[], given: number) {
  const own = steps.filter(({ position }) => position >= given);
  const byNumber = new Map<number, string[]>();
  const numbers = own.map(({ id, writtenId, hasOwnId }) => {
    const number = hasOwnId ? numberIn(writtenId ?? id) : undefined;
    if (number !== undefined) byNumber.set(number, [...(byNumber.get(number) ?? []), id]);
    return number;
  });
  const [first] = numbers;
  const areInOrder = first !== undefined && numbers.every((number, index) => number === first + index);
  const byPlace = new Map(own.map(({ id, position }) => [position - given + 1, id]));

  function read(name: string): Pick<NameReading, "ids" | "isDoubtful"> | undefined {
    const number = numberIn(name);
    if (number === undefined) return undefined;
    const byId = byNumber.get(number) ?? [];
    if (areInOrder && byId.length > 0) return { ids: byId, isDoubtful: false };
    const place = byPlace.get(number);
    const ids = [...new Set([...byId, ...(place === undefined ? [] : [place])])];
    // Some planners count from 0: then no step has that number, but it is a reference.
    if (number === 0 && ids.length === 0)
      return { ids: own.slice(0, 1).map(({ id }) => id), isDoubtful: true };
    if (ids.length === 0) return undefined;
    return { ids, isDoubtful: ids.length > 1 || given > 0 || areInOrder };
  }
  return { read };
}

function numberIn(name: string): number | undefined {
  const digits = (AFTER_WORD.exec(name) ?? AFTER_LETTER.exec(name))?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Literal texts in the form of a reference: the request contains them, or they were escaped. */
export interface LiteralTexts {
  has(text: string): boolean;
  /** True for a text that the plan declares, or that was added. */
  isDeclared(text: string): boolean;
  /** Adds a literal text that was found. */
  add(text: string): void;
  /** The literal texts that were found, in order. */
  readonly met: readonly string[];
}

/**
 * @param known - declared by the plan
 * @param request - the request, in which texts must occur literally
 */
export function createLiteralTexts(known: readonly string[], request: string | undefined): LiteralTexts {
  const all = new Set(known);
  const met = new Set<string>();
  const said = new Map<string, boolean>();
  const isSaid = (text: string) => {
    const known = said.get(text) ?? (request !== undefined && isContained(request, text));
    said.set(text, known);
    return known;
  };
  return {
    has: (text) => met.has(text) || (met.size < MAX_LITERALS && (all.has(text) || isSaid(text))),
    isDeclared: (text) => all.has(text),
    add(text) {
      all.add(text);
      met.add(text);
    },
    get met() {
      return [...met];
    },
  };
}

/** Maximum number of literals in a plan. */
const MAX_LITERALS = 1_000;

/** True when the request contains the complete text: `$1` is not contained in `$100` or `$1.50`. */
function isContained(request: string, text: string): boolean {
  const isNumber = /[\p{L}\p{N}_]$/u.test(text);
  return containsAsWords(request, text, (after) => isNumber && /^[.,][0-9]/.test(after));
}

const WORD = /^[\p{L}\p{N}\p{M}_]$/u;
/** Scripts that are written without spaces, or with endings directly after a name. */
const WITHOUT_SPACES =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]$/u;
const SCRIPTS: readonly RegExp[] = [
  /^\p{Script=Latin}$/u,
  /^\p{Script=Cyrillic}$/u,
  /^\p{Script=Greek}$/u,
  /^\p{Script=Arabic}$/u,
  /^\p{Script=Hebrew}$/u,
];

/**
 * True when two adjacent characters belong to one word: both are letters, digits or `_`. Letters of two
 * scripts belong to two words. Chinese, Japanese, Korean and Thai are written without spaces, so text next to
 * them is a separate word.
 */
export function wordContinues(character: string, next: string): boolean {
  if (!WORD.test(character) || !WORD.test(next)) return false;
  if (WITHOUT_SPACES.test(character) || WITHOUT_SPACES.test(next)) return false;
  const scripts = [scriptOf(character), scriptOf(next)];
  return scripts.includes(-1) || scripts[0] === scripts[1];
}

/**
 * True when a text contains another one as complete words. Case matters; the empty text is never contained.
 * @param isPart - true for further texts that continue the previous word
 */
export function containsAsWords(
  text: string,
  wanted: string,
  isPart = (_after: string): boolean => false,
): boolean {
  if (wanted === "") return false;
  const first = firstOf(wanted);
  const last = lastOf(wanted);
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) {
    const end = at + wanted.length;
    const continues =
      wordContinues(lastOf(text.slice(Math.max(0, at - 2), at)), first) ||
      wordContinues(last, firstOf(text.slice(end, end + 2)));
    if (!continues && !isPart(text.slice(end, end + 2))) return true;
  }
  return false;
}

/** Index of the script; -1 for characters of every script: digits, marks, `_`. */
function scriptOf(character: string): number {
  return SCRIPTS.findIndex((script) => script.test(character));
}

// Characters outside the basic plane have two code units.
const firstOf = (text: string): string => String.fromCodePoint(text.codePointAt(0) ?? 32);
const lastOf = (text: string): string => Array.from(text.slice(-2)).at(-1) ?? " ";
