/**
 * Handles fields that no dialect defines. A field that changes no call is a note: it is not part of the plan,
 * a warning reports it, and services store the original text. A field that might change a call is refused,
 * because without it a different call would be made.
 */

import { cut, type DiagnosticCollector, type Where } from "../diagnostics/diagnostic-collector.ts";
import type { DraftStep } from "../document/draft-step.ts";
import {
  isAffirmation,
  isAgainstRunning,
  isNoteName,
  looksLikeEffect,
  plainName,
  saysNothing,
} from "../document/field-words.ts";
import { stringifyExactJson } from "../json/exact-json.ts";
import { isJsonObject, type JsonValue } from "../json/json.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";
import { callsIn, isCall, isLabelField } from "./call-fields.ts";
import { at, type UnknownField, unknownField } from "./read-fields.ts";

/** Fields that number steps; they mean nothing when they contain the step's own position. */
const PLACES = new Set(
  ["step", "stepNumber", "stepIndex", "stepNo", "order", "index", "number", "no", "sequence"]
    .concat(["position", "executionOrder", "priority"])
    .map(plainName),
);

/** Context for judging the fields of a step. */
export interface StepJudging {
  /** Undefined without a catalogue, or when the tool is unknown. */
  readonly tool: ToolDescriptor | undefined;
  /** Names for suggestions. */
  readonly known: Iterable<string>;
  readonly diagnostics: DiagnosticCollector;
  /** Keys below the step, when the fields are nested. */
  readonly below?: readonly string[];
}

/** Judges the unknown fields of a step, after its call is read. */
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
 * Judges the unknown fields of a document. A plan has no arguments, so plain values with names of unknown
 * meaning are notes.
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

/** Adds the warning that a field changes nothing; a plan in canonical form has no such fields. */
export function addNote({ name, value }: UnknownField, where: Where, diagnostics: DiagnosticCollector): void {
  const said = cut(stringifyExactJson(value), 200);
  const message = `field ${cut(name)} says ${said}; it changes no call and is no part of the plan`;
  if (diagnostics.isCanonical) diagnostics.add("FIELD_UNKNOWN", where, { message });
  else diagnostics.add("FIELD_IGNORED", where, { message, severity: "warning" });
}

/**
 * True for a field that changes no call, whatever text it contains. A sentence in a label field is neither a
 * tool nor an argument.
 */
function isNote({ name, value }: UnknownField): boolean {
  if (isAffirmation(name)) return value === true;
  if (isAgainstRunning({ name, value })) return false;
  if (isLabelField(name)) return typeof value === "string" && /\s/.test(value.trim());
  return isNoteName(name) && !holdsCalls(value);
}

/** True for a value with calls: it is not a note, because these calls would be lost. */
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
 * True for a field that may be an argument, because some models write arguments next to the tool's name: the
 * tool accepts the name, and the arguments do not contain it.
 */
function mayBeArgument(name: string, step: DraftStep, tool: ToolDescriptor | undefined): boolean {
  if (Object.hasOwn(step.arguments, name)) return false;
  const schema = tool?.inputSchema;
  const properties = isJsonObject(schema) ? schema["properties"] : undefined;
  return isJsonObject(properties) && Object.hasOwn(properties, name);
}
