import { cut, type DiagnosticCollector } from "../document/diagnostic.ts";
import type { DraftStep } from "../document/plan.ts";
import type { Policy } from "../document/policy.ts";
import { type JsonValue, visitTexts } from "../json/json.ts";
import { locateRoot, type Names } from "../reference/read-reference.ts";
import { candidatesAt, mapReferenceObjects, readInner } from "./scan-notations.ts";
import { createLiteralTexts, createStepNames, type LiteralTexts, type StepNames } from "./step-names.ts";
import { type Notice, readObject, type Translating, translateText } from "./translate-text.ts";

/** Translates references in foreign notations into our own, with a diagnostic for each. */
export interface Translator {
  /** A text with its references in our notation. */
  text(text: string, place: TextPlace): string;
  /**
   * A value in which reference objects, such as `{"$ref": "s1.text"}`, are replaced by references in our
   * notation.
   */
  value(value: JsonValue, place: TextPlace): JsonValue;
  /** The id of the step when the text is only its name; undefined when that is unclear. */
  stepId(text: string): string | undefined;
  /** Hints for references that begin with a tool name that is not allowed there. */
  readonly toolHint: ToolRootHints;
  /**
   * True for a literal text: the request or the plan declares it, or it was escaped. It is then recorded in
   * `literals`.
   * @param isDeclared - a declaration by the request is not enough
   */
  keepLiteral(this: void, text: string, isDeclared?: boolean): boolean;
  /** Literal texts that were found. */
  readonly literals: readonly string[];
}

/** Options of {@link createTranslator}. */
interface TranslatorOptions {
  readonly steps: readonly DraftStep[];
  readonly names: Names;
  readonly policy: Pick<Policy, "onUnresolvedStep">;
  readonly diagnostics: DiagnosticCollector;
  /** The request, if known: texts in it stay text. */
  readonly request: string | undefined;
  /** Texts that the plan declares as literal. */
  readonly literals: readonly string[];
  /** Number of steps at the beginning that are already in our notation. */
  readonly given: number;
}

/** Positions of steps are those in the document; steps inserted by policy have a negative position. */
export function createTranslator(options: TranslatorOptions): Translator {
  const { steps, names, policy, diagnostics, request, given } = options;
  const toolHint = createToolRootHints(steps);
  const reporting: NoticeReporting = { policy, diagnostics, toolHint };
  const stepNames = createStepNames(steps, names, given);
  const literals = createLiteralTexts(options.literals, request);
  const hasHabit = request !== undefined || numbersSteps(steps);
  const positions = new Map(steps.map(({ id, position }) => [id, position]));

  const near = new Map<string, boolean>();
  function isNear(name: string): boolean {
    const known = near.get(name) ?? diagnostics.nearest(name, positions.keys()) !== undefined;
    near.set(name, known);
    return known;
  }

  function translatingAt({ step, hasScope = none }: TextPlace): Translating {
    const dependsOn = step?.dependsOn ?? [];
    const own = step?.position ?? steps.length;
    return {
      names,
      stepNames,
      literals,
      place: { step, dependsOn, hasScope },
      isEarlier: (id) => (positions.get(id) ?? own) < own || dependsOn.includes(id),
      hasHabit: hasHabit || step === undefined,
      isNear,
    };
  }

  function text(written: string, place: TextPlace): string {
    if (place.step && place.step.position < given) return written;
    const isBelowOperator = place.keys.some((key) => typeof key === "string" && isOperator(key));
    const translated = translateText(written, { ...translatingAt(place), isBelowOperator });
    if (!translated) return written;
    for (const notice of translated.notices) reportNotice(notice, place, reporting);
    return translated.text;
  }

  function value(written: JsonValue, place: TextPlace): JsonValue {
    if (place.step && place.step.position < given) return written;
    return mapReferenceObjects(written, place.keys, (object, keys) => {
      const found = readObject(object, translatingAt(place));
      if (!found) return undefined;
      const literal = [object.source, object.written].find((each) => isObjectLiteral(each, literals));
      if (literal !== undefined) {
        literals.add(literal);
        return undefined;
      }
      reportNotice(found, { ...place, keys }, reporting);
      return found.type === "translated" ? found.readings[0] : undefined;
    });
  }

  return {
    text,
    value,
    keepLiteral(written, isDeclared = false) {
      const isLiteral = isDeclared ? literals.isDeclared(written) : literals.has(written);
      if (isLiteral) literals.add(written);
      return isLiteral;
    },
    toolHint,
    stepId: (written) => clearStep(written, stepNames, names),
    get literals() {
      return literals.met;
    },
  };
}

const none = () => false;

/** A key such as `$match`: an operator of a query language. */
function isOperator(key: string): boolean {
  return /^\$[a-z][A-Za-z]*$/.test(key) && key !== "$ref";
}

/** Longer texts are not stored in a plan. */
const MAX_LITERAL = 300;

/** True for a literal text with a sign in it. A plain word occurs in many requests, so it does not count. */
function isObjectLiteral(text: string, literals: LiteralTexts): boolean {
  return text.length <= MAX_LITERAL && /[.#/[{$]/.test(text) && literals.has(text);
}

/** The only step that a text can mean: by its name, or by a reference to its complete output. */
function clearStep(text: string, stepNames: StepNames, names: Names): string | undefined {
  const place = { step: undefined, dependsOn: [], hasScope: none };
  const inside = candidatesAt(text, 0).flatMap(({ start, end, inner }) =>
    start === 0 && end === text.length ? [inner] : [],
  );
  for (const name of [text, ...inside]) {
    const inner = readInner(name, (each) => stepNames.read(each, place) !== undefined);
    if (!inner || inner.rest !== "" || inner.path.length > 0) continue;
    const reading =
      typeof inner.name === "string" ? stepNames.read(inner.name, place) : stepNames.at(inner.name.position);
    const [id, ...others] = reading?.ids ?? [];
    if (
      id !== undefined &&
      others.length === 0 &&
      !reading?.isDoubtful &&
      locateRoot(id, [], names).type === "step"
    )
      return id;
  }
  return undefined;
}

const NUMBERED_VALUE = /^\$(?:\{[0-9]{1,4}\}|[0-9]{1,4})(?:\.[A-Za-z_]|$)/;

/**
 * True when a value of some step is a number after a dollar sign with a field, or in braces: money is not
 * written like that.
 */
function numbersSteps(steps: readonly DraftStep[]): boolean {
  let found = false;
  const look = (value: JsonValue) =>
    visitTexts(value, (text) => {
      found ||= text.length < 200 && /[{.]/.test(text) && NUMBERED_VALUE.test(text);
    });
  for (const step of steps) look(step.arguments);
  return found;
}

/** The location of a text. */
interface TextPlace {
  /** Absent for the plan's outputs. */
  readonly step?: DraftStep | undefined;
  readonly keys: readonly (string | number)[];
  readonly hasScope?: ((name: string) => boolean) | undefined;
}

/** Context for reporting notices. */
interface NoticeReporting {
  readonly policy: Pick<Policy, "onUnresolvedStep">;
  readonly diagnostics: DiagnosticCollector;
  readonly toolHint: ToolRootHints;
}

/** Adds the diagnostic for a text in a foreign notation: how it was read, or why it cannot be read. */
function reportNotice(
  notice: Notice,
  { step, keys }: TextPlace,
  { policy, diagnostics, toolHint }: NoticeReporting,
): void {
  const place = { keys, ...(step ? { step } : {}) };
  const begin = step ? `step ${step.id}` : "the outputs";
  const shown = cut(notice.text);
  const [reading] = notice.readings;
  const escape = `\\${notice.text}`;
  const instead = notice.isObject ? "" : `, or ${cut(escape)} for the characters themselves`;
  switch (notice.type) {
    case "translated": {
      const message = `${begin}: ${shown} is read as ${reading}; write that`;
      diagnostics.add("REFERENCE_SPELLING", place, { message, severity: "warning", suggestion: reading });
      return;
    }
    case "doubt": {
      const isOpen = notice.readings.length > 1;
      const message = isOpen
        ? `${begin}: ${shown} can mean ${notice.readings.slice(0, 20).join(", ")}; write the one that is meant`
        : `${begin}: ${shown} may be the reference ${reading} or text; write ${reading}${instead}`;
      const code = isOpen ? "REFERENCE_AMBIGUOUS" : "REFERENCE_SPELLING";
      diagnostics.add(code, place, { message, suggestion: reading });
      return;
    }
    case "malformed": {
      const message = `${begin}: ${shown} is no reference; write ${reading ?? "<<step.field>>"}${instead}`;
      diagnostics.add("REFERENCE_MALFORMED", place, { message, suggestion: reading });
      return;
    }
    case "kept": {
      const message = `${begin}: ${shown} stays text, because it belongs to a query in another language; write ${reading} for the output of that step`;
      diagnostics.add("REFERENCE_SPELLING", place, { message, severity: "warning", suggestion: reading });
      return;
    }
    case "unknown": {
      const severity = policy.onUnresolvedStep === "keep" ? "warning" : "error";
      const hint = toolHint(notice.text.slice(2));
      const message = `${begin} refers to ${shown}: no such step${hint?.message ?? "; write <<step.field>>"}${instead}`;
      diagnostics.add("REFERENCE_UNKNOWN", place, { message, severity, suggestion: hint?.suggestion });
    }
  }
}

/** A tool name with which references can begin. */
const PLAIN = /^[A-Za-z_][\w./-]*$/;
const MAX_NAMED = 5;
/** Maximum number of hints for one plan. */
const MAX_HINTS = 200;

/** A hint for a message, and the reference to write. */
interface ToolRootHint {
  readonly message: string;
  readonly suggestion: string;
}

/** @param written - the text between the brackets of a reference, or its beginning */
type ToolRootHints = (written: string) => ToolRootHint | undefined;

/**
 * Hints for references that seem to begin with a tool whose name contains spaces or signs: they must name one
 * of the steps with that tool. Case and the width of spaces do not matter. Undefined when no such tool is
 * similar.
 */
function createToolRootHints(
  steps: readonly { readonly id: string; readonly tool: string }[],
): ToolRootHints {
  let left = MAX_HINTS;
  return (written) => {
    const wanted = comparable(written);
    if (wanted === "" || left-- <= 0) return undefined;
    const tool = steps.find((step) => !PLAIN.test(step.tool) && begins(wanted, comparable(step.tool)))?.tool;
    if (tool === undefined) return undefined;
    const users = steps.filter((step) => step.tool === tool).slice(0, MAX_NAMED);
    const [first = "", ...others] = users.map(({ id }) => `<<${id}>>`);
    return {
      message: `; refer to tool ${cut(tool)} by the id of its step: ${[first, ...others].join(", ")}`,
      suggestion: first,
    };
  };
}

/** True when the text begins with the name, or is its beginning up to a sign: `send` of `send mail`. */
function begins(wanted: string, tool: string): boolean {
  return (
    wanted.startsWith(tool) || (tool.startsWith(wanted) && !/^[\p{L}\p{N}_]/u.test(tool.slice(wanted.length)))
  );
}

function comparable(text: string): string {
  return text.slice(0, 300).normalize("NFC").toLowerCase().replace(/\s+/gu, " ").trim();
}
