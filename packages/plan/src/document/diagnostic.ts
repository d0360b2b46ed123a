import { distance } from "fastest-levenshtein";
import { wholeCharacters } from "../json/copy-json.ts";
import { printPlace } from "../json/json.ts";

/** One error or warning about a plan. Messages are for people, and for models that repair the plan. */
export interface Diagnostic {
  /** From the closed list {@link DIAGNOSTIC_CODES}. */
  code: DiagnosticCode;
  /** An `error` keeps the plan from running; a `warning` does not. */
  severity: "error" | "warning";
  stepId?: string | undefined;
  /** Path in the plan document, such as `steps[2].arguments.authorId`. */
  path?: string | undefined;
  /** The error, its location, and what to do. */
  message: string;
  /** The nearest valid choice, ready to use. */
  suggestion?: string | undefined;
  /**
   * Number of outputs of earlier runs on which the diagnostic is based, when no schema declares it. It may be
   * wrong, so it is always a warning.
   */
  observedIn?: number | undefined;
}

/** Every code a diagnostic can carry. */
export const DIAGNOSTIC_CODES = [
  // The answer of a model
  "ANSWER_TRUNCATED", // cut off; closing its brackets would invent a plan
  "ANSWER_REFUSED", // the model refused, or the provider withheld the answer
  "ANSWER_DECLINED", // the model gives in JSON a reason why there is no plan, such as a missing tool
  "ANSWER_ASKS", // the model lacks a value; the message is a question for the user
  "ANSWER_AMBIGUOUS", // several plans, and it is unclear which one counts
  // The document
  "PLAN_NOT_JSON",
  "PLAN_SHAPE",
  "PLAN_EMPTY",
  "PLAN_VERSION_UNKNOWN",
  "POLICY_INVALID",
  "LIMITS_INVALID",
  "LIMIT_STEPS",
  "LIMIT_ITEMS",
  "LIMIT_BYTES",
  "LIMIT_DEPTH",
  "ORDER_INVALID", // executionOrder contains an unknown name, or contradicts a dependency
  "OUTPUT_UNKNOWN",
  // Fields
  "FIELD_UNKNOWN",
  "FIELD_MISSING",
  "FIELD_INVALID",
  "FIELD_CONFLICT", // two fields with the same meaning
  "FIELD_IGNORED", // a note about the plan, or an option that a model cannot choose
  "STEP_ID_INVALID",
  "STEP_ID_RENAMED", // the id is invalid and was replaced, also in references
  "STEP_ID_DUPLICATE",
  "STEP_REPEATED", // a replanned step repeats an earlier call
  // Tools
  "TOOL_NAME_INVALID",
  "TOOL_UNKNOWN",
  "TOOL_AMBIGUOUS", // several servers offer it
  "TOOL_DUPLICATE", // two definitions in the catalogue: the later one counts
  "TOOL_RECURSIVE", // a plan that calls the tool that runs plans
  "TOOL_SCHEMA_UNUSABLE", // its input schema cannot be checked against
  "TOOL_SCHEMA_TYPE", // its input schema uses types that JSON Schema does not define
  // Arguments
  "ARGUMENTS_NOT_JSON",
  "ARGUMENTS_NOT_OBJECT",
  "ARGUMENT_MISSING",
  "ARGUMENT_UNKNOWN",
  "ARGUMENT_UNDECLARED", // the schema allows it without declaring it
  "ARGUMENT_TYPE",
  "ARGUMENT_VALUE",
  "ARGUMENT_PLACEHOLDER",
  "ARGUMENT_DATE", // differs from the day or moment that the words of the query mean
  "ARGUMENT_UNSOURCED", // a value that is neither in the query nor from the tool; a warning means an assumption
  // Secrets
  "SECRET_INVALID", // begins like a secret, but has no valid name
  "SECRET_MISPLACED", // not the complete value of an argument, so it is not inserted
  "SECRET_EXPOSED", // the value looks like a credential; a plan should only name the secret
  "SECRET_UNSOURCED", // a model wrote it, and the query does not name it
  // References
  "REFERENCE_UNKNOWN",
  "REFERENCE_AMBIGUOUS",
  "REFERENCE_MALFORMED",
  "REFERENCE_SPELLING", // a reference in a foreign notation
  "REFERENCE_FORBIDDEN",
  "REFERENCE_SELF",
  "REFERENCE_FIELD_UNKNOWN",
  "REFERENCE_TYPE",
  // Dependencies
  "DEPENDENCY_UNKNOWN",
  "DEPENDENCY_SELF",
  "DEPENDENCY_IGNORED",
  "DEPENDENCY_INSERTED",
  "DEPENDENCY_ADDED",
  "CYCLE",
  "CYCLE_BROKEN",
  "CONTRACT_DEPENDENCY_ABSENT",
  "CONTRACT_FIELD_ABSENT",
  "CONTRACT_BATCH_TOO_LARGE", // a list has more items than one call of the tool takes
  "STEP_TIMEOUT_CUT", // a step's timeout is longer than its tool's contract or the service allows
  "CONTRACT_UNREADABLE", // a declaration of the tool is unreadable and ignored
  "CONTRACT_LIMIT_UNREACHABLE", // the plan allows fewer concurrent calls than the tool
  // Conditions and forEach
  "CONDITION_INVALID",
  "CONDITION_STATUS_UNKNOWN",
  "FOREACH_ITEMS_NOT_LIST",
  "FOREACH_ALIAS_CONFLICT",
  "FOREACH_KEY_DUPLICATE",
  "FOREACH_MIN_SUCCESS", // more successes than items, or used together with errors: stop
] as const;
/** The kind of a diagnostic. */
export type DiagnosticCode = (typeof DIAGNOSTIC_CODES)[number];

/** The location of a diagnostic: a step (its position is known only at the end), or the document. */
export interface Where {
  /** Position and id of the step. */
  step?: { readonly index: number; readonly id: string } | undefined;
  /** Keys below the step, or below the document. */
  keys?: readonly (string | number)[] | undefined;
}

/** The text of a diagnostic. */
export interface DiagnosticText {
  message: string;
  severity?: Diagnostic["severity"] | undefined;
  suggestion?: string | undefined;
  observedIn?: number | undefined;
}

/** Maximum number of searches for similar names in one plan. */
const MAX_SUGGESTIONS = 200;

/**
 * Maximum number of errors, and of warnings, that are kept for one plan: a hostile plan could cause any
 * number.
 */
const MAX_DIAGNOSTICS = 1_000;

/** Collects the diagnostics of one plan. */
export class DiagnosticCollector {
  readonly #found: { code: DiagnosticCode; where: Where; words: DiagnosticText }[] = [];
  readonly #counts = { error: 0, warning: 0 };
  #suggestions = 0;
  /** The plan must be in canonical form: what other dialects allow is an error. */
  readonly isCanonical: boolean;

  constructor({ isCanonical = false }: { isCanonical?: boolean | undefined } = {}) {
    this.isCanonical = isCanonical;
  }

  add(code: DiagnosticCode, where: Where, words: DiagnosticText): void {
    const severity = words.severity ?? "error";
    if (this.#counts[severity] >= MAX_DIAGNOSTICS) return;
    this.#counts[severity]++;
    this.#found.push({ code, where, words });
  }

  /** The nearest name; undefined once all searches are used. */
  nearest(name: string, candidates: Iterable<string>): string | undefined {
    return this.#isSearchLeft() ? nearestName(name, candidates) : undefined;
  }

  /** The nearest field of an output; undefined once all searches are used. */
  nearestField(name: string, candidates: Iterable<string>): string | undefined {
    return this.#isSearchLeft() ? nearestField(name, candidates) : undefined;
  }

  #isSearchLeft(): boolean {
    if (this.#suggestions >= MAX_SUGGESTIONS) return false;
    this.#suggestions++;
    return true;
  }

  /** The diagnostics in the order of adding, with the current positions of steps. */
  toDiagnostics(): Diagnostic[] {
    return this.#found.map(({ code, where, words }) => {
      const { step, keys = [] } = where;
      const path = printPlace(step ? ["steps", step.index, ...keys] : keys);
      return {
        code,
        severity: words.severity ?? "error",
        ...(step && { stepId: step.id }),
        ...(path !== "" && { path }),
        message: words.message,
        ...(words.suggestion !== undefined && { suggestion: words.suggestion }),
        ...(words.observedIn !== undefined && { observedIn: words.observedIn }),
      };
    });
  }
}

/** The end of a message that suggests a similar name. */
export function didYouMean(suggestion: string | undefined): string {
  return suggestion === undefined ? "" : `; did you mean ${suggestion}?`;
}

/** An external text, cut between two characters to a length that fits a message. */
export function cut(text: string, length = 80): string {
  return text.length <= length ? text : `${wholeCharacters(text, length)}...`;
}

/**
 * The base of all errors of the project: a `code` from a closed list for decisions, `facts` to show, `cause`
 * to debug. Programs must decide by `code`, never by the message. Subclasses set `code` and `retryable`.
 */
export abstract class CodedError<Facts extends object = object> extends Error {
  /** Upper-case identifier from the closed list of the throwing package, such as "PLAN_NOT_FOUND". */
  abstract readonly code: string;
  /** True when the same call may succeed later without any change. */
  abstract readonly retryable: boolean;
  /** The values in the message; safe to log and to show after redaction. */
  readonly facts: Readonly<Facts>;

  constructor(message: string, facts: Facts, options?: { cause?: unknown }) {
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.facts = facts;
  }
}

/**
 * The message about a server that does not answer: where it was expected, and what to check.
 * @param at - its address, without credentials
 * @param setting - the setting that names it
 * @param timeoutMs - how long an answer was awaited. Default: it is not said
 */
export function noAnswerText(
  server: string,
  { at, setting, timeoutMs }: { at: string; setting: string; timeoutMs?: number | undefined },
): string {
  const within = timeoutMs === undefined ? "" : ` within ${timeoutMs / 1_000} s`;
  return `${server} at ${at} does not answer${within}; check that it runs, and that ${setting} names it`;
}

const MAX_CANDIDATES = 2_000;
const MAX_LENGTH = 128;

/**
 * The candidate nearest to a name: at most a third of its letters (at least 2) differ; case does not matter.
 * Checks the first 2,000 candidates; undefined when none is similar.
 */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const wanted = name.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(name.length / 3)) + 1;
  let seen = 0;
  for (const candidate of candidates) {
    if (++seen > MAX_CANDIDATES) break;
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue;
    const found = distance(wanted, candidate.toLowerCase());
    if (found < bestDistance && found < Math.max(name.length, candidate.length)) {
      best = candidate;
      bestDistance = found;
    }
  }
  return best;
}

/**
 * The candidate nearest to a field name: the only one that differs by additional or missing words at one end,
 * such as `ticket_id` for `id` and `email` for `emailAddress`; otherwise the nearest by letters.
 */
function nearestField(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const listed = [...candidates].slice(0, MAX_CANDIDATES);
  const wanted = wordsOf(name);
  const alike = listed.filter((candidate) => endsAlike(wanted, wordsOf(candidate)));
  return alike.length === 1 ? alike[0] : nearestName(name, listed);
}

function endsAlike(one: readonly string[], other: readonly string[]): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  if (short.length === 0) return false;
  const [own, first, last] = [short, long.slice(0, short.length), long.slice(-short.length)].map((words) =>
    words.join(" "),
  );
  return own === first || own === last;
}

/** Words of a name in any usual spelling, in lower case. */
export function wordsOf(name: string): string[] {
  const spaced = name.slice(0, MAX_LENGTH).replace(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})/gu, " ");
  return spaced.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}
