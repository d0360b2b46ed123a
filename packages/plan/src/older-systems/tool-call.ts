import { DiagnosticCollector } from "../diagnostics/diagnostic.ts";
import { type Fields, judgeStepFields, type ReadFields, readProvides } from "../dialect/call-fields.ts";
import { readCall, stepFields } from "../dialect/read-step.ts";
import { nextFree } from "../dialect/step-ids.ts";
import { dependencyNames } from "../document/field-words.ts";
import { LimitsSchema, type PolicyInput } from "../document/policy.ts";
import { createDraftStep, type DraftStep } from "../document/step.ts";
import { copyJson } from "../json/copy-json.ts";
import { isJsonObject, type JsonObject } from "../json/json.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";
import { type Catalogue, createCatalogue } from "../validation/catalogue.ts";

/**
 * One call of a model's answer, in any form that plans accept for a step: `{id, tool, arguments}`, `{name,
 * params}`, `{name, input}`, `{function: {name, arguments: "<JSON text>"}}`. Further fields are kept.
 */
export interface ToolCall {
  /** A call without an id is numbered: `call_1`. */
  id?: string | undefined;
  tool?: string | undefined;
  name?: string | undefined;
  function?: { readonly name?: unknown; readonly arguments?: unknown } | undefined;
  /** Ids of calls of the same answer that must end before. */
  after?: readonly string[] | undefined;
  /** Like `after`, but a name may also be a tool (all its calls) or a field that other calls provide. */
  dependsOn?: string | readonly string[] | null | undefined;
  depends_on?: string | readonly string[] | null | undefined;
  dependencies?: string | readonly string[] | null | undefined;
  /** Names of fields in its output. */
  provides?: string | readonly string[] | null | undefined;
}

/** A call as it was read, whatever its form. */
export interface ReadToolCall {
  /** Its own id, or a number of its own: `call_1`. */
  id: string;
  /** Undefined when it names no tool. */
  tool: string | undefined;
  /** The same object when the call has an object. */
  arguments: JsonObject;
  /** Ids of calls that must end before. */
  after: readonly string[];
  /** Ids, tools or provided fields, each once. */
  dependsOn: readonly string[];
  /** Names of fields in its output. */
  provides: readonly string[];
  /** Why the call must not be made: its arguments, or a field beside them, cannot be read. */
  problems: readonly string[];
}

/**
 * A call that is not in the answer, of a tool that another call depends on (`onAbsentDependency: "insert"`).
 */
export interface InsertedCall {
  id: string;
  tool: string;
  arguments: JsonObject;
}

/**
 * Options for ordering calls: `onCycle`, `onAbsentDependency`, `navigation`, `maxParallel`, `unannotated`, or
 * a `profile` of them. Default: the profile `ordered-calls`.
 */
export type OrderingPolicy = Pick<
  PolicyInput,
  "profile" | "onCycle" | "onAbsentDependency" | "navigation" | "maxParallel" | "unannotated"
>;

/**
 * The calls of one answer, read as plans read their steps.
 * @param tools - a name that is one of them wins over a label
 */
export function readToolCalls(calls: readonly ToolCall[], tools: readonly ToolDescriptor[]): ReadToolCall[] {
  const catalogue = createCatalogue(tools, { unannotated: "parallel" });
  const read = calls.map((call, index) => readToolCall(call, index, catalogue));
  const taken = new Set(read.flatMap(({ id }) => id ?? []));
  const numbers = new Map<string, number>();
  return read.map((call) => ({ ...call, id: call.id ?? nextFree("call", taken, numbers) }));
}

const LIMITS = LimitsSchema.parse({});

function readToolCall(
  call: ToolCall,
  index: number,
  catalogue: Catalogue,
): Omit<ReadToolCall, "id"> & { id: string | undefined } {
  const diagnostics = new DiagnosticCollector();
  const reading = { limits: LIMITS, catalogue, diagnostics };
  const step = createDraftStep({ index, id: "" });
  const form: unknown = call;
  const found = isJsonObject(form) ? stepFields(form, step, reading) : NO_FIELDS;
  const { fields } = found;
  const id = idIn(fields);
  step.id = id ?? `call ${index + 1}`;
  readCall(fields, step, reading);
  const tool = step.tool || toolIn(call);
  if (!fields.has("arguments")) judgeRest(found, step, { catalogue, diagnostics });
  return {
    id,
    tool,
    arguments: step.arguments,
    after: namesIn(fields, "after"),
    dependsOn: namesIn(fields, "dependsOn"),
    provides: readProvides(fields, step, new DiagnosticCollector()),
    problems: tool === undefined ? [] : problemsIn(fields, diagnostics),
  };
}

const NO_FIELDS: ReadFields = { fields: new Map(), unknown: [] };

function idIn(fields: Fields): string | undefined {
  const value = fields.get("id")?.value;
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A name that no plan allows is still the name of an unknown tool. */
function toolIn(call: ToolCall): string | undefined {
  return [call.tool, call.name].find((name) => typeof name === "string" && name !== "");
}

function namesIn(fields: Fields, field: string): string[] {
  const value = fields.get(field)?.value;
  const names = value === undefined ? [] : (dependencyNames(value) ?? []);
  return [...new Set(names.map(({ name }) => name))];
}

/** Arguments under a name that no dialect knows must not become a call without arguments. */
function judgeRest(
  { unknown }: ReadFields,
  step: DraftStep,
  { catalogue, diagnostics }: { catalogue: Catalogue; diagnostics: DiagnosticCollector },
): void {
  const isJson = (value: unknown) =>
    copyJson(value, { maxDepth: LIMITS.maxDepth, maxBytes: LIMITS.maxBytes }).ok;
  judgeStepFields(
    unknown.filter(({ value }) => isJson(value)),
    step,
    { tool: catalogue.find(step.tool), known: ["arguments"], diagnostics },
  );
}

/** Fields of a step that would be lost here, although they decide whether and how a call is made. */
const OF_PLANS = ["forEach", "when", "approval"];

function problemsIn(fields: Fields, diagnostics: DiagnosticCollector): string[] {
  const found = diagnostics.toDiagnostics().filter(({ severity, code }) => {
    return severity === "error" && code !== "FIELD_MISSING" && code !== "TOOL_NAME_INVALID";
  });
  const lost = OF_PLANS.filter((name) => fields.has(name));
  return [
    // The readers of plans speak of steps.
    ...found.map(({ message }) => message.replace(/^step /, "call ")),
    ...lost.map((name) => `${name} has a meaning only in a plan; run these calls as a plan`),
  ];
}
