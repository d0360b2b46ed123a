import { type DiagnosticCollector } from "../diagnostics/diagnostic-collector.ts";
import { PlanSchema } from "../document/plan.ts";
import { isJsonObject, type JsonValue } from "../json/json.ts";
import { CALL_LISTS, callsIn, isCall, isCatalogue, isProseBlock } from "./call-fields.ts";
import { addNote, judgePlanFields } from "./judge-fields.ts";
import { at, type FieldNames, type Fields, readFields } from "./read-fields.ts";
import { readOutputsField, type WrittenOutputs } from "./read-outputs.ts";

/** The parts of a document of any dialect. */
export interface PlanDocument {
  readonly calls: readonly JsonValue[];
  /** Requested outputs: ids or tools, or parts by name. */
  readonly outputs: WrittenOutputs | undefined;
  /** Of the tool-chaining dialect: a list of tools or steps, or `sequential`, `parallel`. */
  readonly executionOrder: JsonValue | undefined;
  /** Texts that are literal values. */
  readonly literals: readonly string[];
  readonly policy: JsonValue | undefined;
  readonly limits: JsonValue | undefined;
}

const DOCUMENT_FIELDS: FieldNames = {
  formatVersion: ["formatVersion"],
  steps: ["steps"],
  tools: ["tools"],
  calls: ["calls"],
  outputs: ["outputs", "output_steps"],
  executionOrder: ["executionOrder"],
  literals: ["literals"],
  policy: ["policy"],
  limits: ["limits"],
};

/**
 * Reads the parts of a plan document: `{steps, outputs}`, `{steps, output_steps}`, `{tools, executionOrder}`,
 * `{calls}`, or a list of calls. Undefined, with a diagnostic, when there are no calls.
 */
export function readDocument(value: JsonValue, diagnostics: DiagnosticCollector): PlanDocument | undefined {
  if (Array.isArray(value)) return withCalls({ calls: value }, diagnostics);
  if (!isJsonObject(value)) {
    diagnostics.add(
      "PLAN_SHAPE",
      {},
      { message: `${SHAPE}, not ${value === null ? "null" : `a ${typeof value}`}` },
    );
    return undefined;
  }
  const { fields, unknown } = readFields(value, DOCUMENT_FIELDS, {}, diagnostics);
  judgePlanFields(unknown, Object.keys(DOCUMENT_FIELDS), diagnostics);
  const version = fields.get("formatVersion")?.value ?? 1;
  if (version !== 1) {
    const message = `formatVersion is ${JSON.stringify(version)?.slice(0, 40)}; this reader knows version 1`;
    diagnostics.add("PLAN_VERSION_UNKNOWN", at({}, "formatVersion"), { message });
  }
  const calls = readCalls(fields, diagnostics);
  if (!calls) return undefined;
  return withCalls(
    {
      calls,
      outputs: readOutputsField(fields.get("outputs"), diagnostics),
      executionOrder: fields.get("executionOrder")?.value,
      literals: readLiterals(fields.get("literals")?.value, diagnostics),
      policy: fields.get("policy")?.value,
      limits: fields.get("limits")?.value,
    },
    diagnostics,
  );
}

/**
 * The calls are in one of three fields; in the other fields models list the tools that they use, as texts or
 * with schemas.
 */
function readCalls(fields: Fields, diagnostics: DiagnosticCollector): JsonValue[] | undefined {
  const lists = CALL_LISTS.flatMap((name) => fields.get(name) ?? []);
  const chosen = lists.find(({ value }) => holdsCalls(value)) ?? lists[0];
  const calls = chosen && callsIn(chosen.value);
  if (!chosen || !calls) {
    diagnostics.add("PLAN_SHAPE", chosen ? at({}, chosen.name) : {}, { message: SHAPE });
    return undefined;
  }
  for (const other of lists) {
    if (other === chosen) continue;
    if (isEmpty(other.value)) continue;
    if (isListOfTools(other.value)) addNote(other, at({}, other.name), diagnostics);
    else {
      const message = `${chosen.name} and ${other.name} both hold calls; keep one of them`;
      diagnostics.add("FIELD_CONFLICT", at({}, other.name), { message });
    }
  }
  return calls;
}

const SHAPE = 'A plan is {"steps": [{"id", "tool", "arguments"}]} or a list of calls';

function withCalls(
  given: { calls: JsonValue[] } & Partial<PlanDocument>,
  diagnostics: DiagnosticCollector,
): PlanDocument | undefined {
  const document = { ...given, calls: withoutProse(given.calls, diagnostics) };
  if (document.calls.length === 0) {
    diagnostics.add("PLAN_EMPTY", at({}, "steps"), {
      message: "The plan has no steps; it needs at least one",
    });
    return undefined;
  }
  return {
    outputs: undefined,
    executionOrder: undefined,
    literals: [],
    policy: undefined,
    limits: undefined,
    ...document,
  };
}

const LiteralsSchema = PlanSchema.shape.literals.unwrap();

function readLiterals(value: JsonValue | undefined, diagnostics: DiagnosticCollector): readonly string[] {
  if (value === undefined) return [];
  const parsed = LiteralsSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const message = "literals is a list of at most 1000 texts of at most 300 characters";
  diagnostics.add("FIELD_INVALID", at({}, "literals"), { message });
  return [];
}

/** Removes blocks of text and thinking that models put between their calls. */
function withoutProse(calls: readonly JsonValue[], diagnostics: DiagnosticCollector): JsonValue[] {
  return calls.filter((call, index) => {
    const isProse = isProseBlock(call);
    if (isProse) addNote({ name: "text", value: call }, at({}, "steps", index), diagnostics);
    return !isProse;
  });
}

function holdsCalls(value: JsonValue): boolean {
  const calls = callsIn(value) ?? [];
  return calls.some(isCall) && !isCatalogue(calls);
}

/** True for a list of the used tools: names or definitions. */
function isListOfTools(value: JsonValue): boolean {
  return Array.isArray(value) && (value.every((item) => typeof item === "string") || isCatalogue(value));
}

function isEmpty(value: JsonValue): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}
