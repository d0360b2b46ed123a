/**
 * How fields that no dialect knows are treated. A field that changes no call is a note: it is not part of the
 * plan, a warning says so, and services store the original text. A field that might change a call is refused,
 * because without it another call would be made than the one that was asked for.
 */

import { cut, type DiagnosticCollector, type Where } from "../diagnostics/diagnostic-collector.ts";
import type { DraftStep } from "../document/draft-step.ts";
import { isJsonObject, type JsonValue } from "../json/json.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";
import { callsIn, isCall, isLabelField } from "./call-fields.ts";
import {
  isAffirmation,
  isAgainstRunning,
  isNoteName,
  looksLikeEffect,
  plainName,
  saysNothing,
} from "./field-words.ts";
import { at, type UnknownField, unknownField } from "./read-fields.ts";

/** Fields that count steps; they say nothing where they say the step's own place. */
const PLACES = new Set(
  ["step", "stepNumber", "stepIndex", "stepNo", "order", "index", "number", "no", "sequence"]
    .concat(["position", "executionOrder", "priority"])
    .map(plainName),
);

/** What a step's fields are judged with. */
export interface StepJudging {
  /** Undefined without a catalogue, or when the tool is unknown. */
  readonly tool: ToolDescriptor | undefined;
  /** Names for suggestions. */
  readonly known: Iterable<string>;
  readonly diagnostics: DiagnosticCollector;
  /** Keys below the step, where the fields are not its own. */
  readonly below?: readonly string[];
}

/** Judges the fields of a step that no dialect knows, once its call is read. */
export function judgeStepFields(
  unknown: readonly UnknownField[],
  step: DraftStep,
  { tool, known, diagnostics, below = [] }: StepJudging,
): void {
  const place = { step, keys: below };
  for (const field of unknown) {
    const where = at(place, cut(field.name));
    if (saysNothing(field.name, field.value) || isOwnPlace(field, step.index)) continue;
    if (mayBeArgument(field.name, step, tool)) {
      const message = `step ${step.id}: field ${cut(field.name)} may be an argument of ${step.tool}; put it into the arguments, or leave it out`;
      diagnostics.add("FIELD_UNKNOWN", where, { message });
    } else if (isNote(field)) addNote(field, where, diagnostics);
    else unknownField(field.name, known, place, diagnostics);
  }
}

/**
 * Judges the fields of a document that no dialect knows. A plan takes no arguments, so plain values under
 * names that say nothing are notes.
 */
export function judgePlanFields(
  unknown: readonly UnknownField[],
  known: readonly string[],
  diagnostics: DiagnosticCollector,
): void {
  for (const field of unknown) {
    const { name, value } = field;
    if (saysNothing(name, value)) continue;
    const isPlain = typeof value !== "object" && diagnostics.nearest(name, known) === undefined;
    const isAgainst = isAgainstRunning(field);
    const isNamed =
      plainName(name) === "plan" || (isPlain && !isAgainst && !looksLikeEffect(name) && !isAffirmation(name));
    if (isNote(field) || (isNamed && !holdsCalls(value))) addNote(field, at({}, cut(name)), diagnostics);
    else unknownField(name, known, {}, diagnostics);
  }
}

/** Adds the warning that a field changes nothing. */
export function addNote({ name, value }: UnknownField, where: Where, diagnostics: DiagnosticCollector): void {
  const said = cut(JSON.stringify(value), 200);
  const message = `field ${cut(name)} says ${said}; it changes no call and is no part of the plan`;
  diagnostics.add("FIELD_IGNORED", where, { message, severity: "warning" });
}

/**
 * True for a field that changes no call, whatever its value says in words. A sentence under a label is no
 * tool and no argument.
 */
function isNote({ name, value }: UnknownField): boolean {
  if (isAffirmation(name)) return value === true;
  if (isAgainstRunning({ name, value })) return false;
  if (isLabelField(name)) return typeof value === "string" && /\s/.test(value.trim());
  return isNoteName(name) && !holdsCalls(value);
}

/** A call that stands where none is expected is no note: it would never be made. */
function holdsCalls(value: JsonValue): boolean {
  if (isCall(value)) return true;
  const calls = callsIn(value);
  return calls !== undefined && calls.some(isCall);
}

function isOwnPlace({ name, value }: UnknownField, index: number): boolean {
  if (!PLACES.has(plainName(name))) return false;
  return [index, index + 1].some((place) => value === place || value === String(place));
}

/**
 * Some models write arguments beside the tool's name. What the tool takes under that name, and the arguments
 * do not hold, may be one of them.
 */
function mayBeArgument(name: string, step: DraftStep, tool: ToolDescriptor | undefined): boolean {
  if (Object.hasOwn(step.arguments, name)) return false;
  const schema = tool?.inputSchema;
  const properties = isJsonObject(schema) ? schema["properties"] : undefined;
  return isJsonObject(properties) && Object.hasOwn(properties, name);
}
