import { CodedError } from "../diagnostics/diagnostic.ts";
import { outputParts, outputSteps, type Plan } from "../document/plan.ts";
import { type JsonObject, type JsonValue, type Lookup, lookUp, setOwn } from "../json/json.ts";
import type { OutputTexts } from "../tools/tool-result.ts";
import { scanReferences } from "./read-reference.ts";
import { type ResolveOptions, resolveReferences } from "./resolve-references.ts";

/** A part that is left out of the outputs. */
export interface OmittedOutput {
  name: string;
  /** Ids of the steps that it refers to. */
  steps: string[];
  /** Message of the first unresolved reference. */
  message: string;
}

/** The outputs of a plan, by step id or by the name of the part, and the parts that were left out. */
export interface ResolvedOutputs {
  outputs: JsonObject;
  leftOut: OmittedOutput[];
}

/** {@link ResolvedOutputs} to which parts are added one by one. */
export interface GrowingOutputs extends ResolvedOutputs {
  /** Remaining characters of JSON for further parts. */
  room: number;
}

/** Maximum total characters of JSON of all parts. */
const MAX_PARTS_SIZE = 16 * 1024 * 1024;

/** Outputs without a part. */
export function emptyOutputs(): GrowingOutputs {
  return { outputs: {}, leftOut: [], room: MAX_PARTS_SIZE };
}

/**
 * The requested outputs of a plan: outputs of its steps by id, or its parts with resolved references. A step
 * without an output is left out. A part is left out when one of its references cannot be resolved, even if
 * the policy keeps such references in arguments; only `onMissingField: "null"` gives null. Pure.
 * @param known - outputs of completed steps, by id
 * @param texts - texts of outputs that tools returned as JSON text
 */
export function resolveOutputs(
  plan: Pick<Plan, "steps" | "outputs" | "policy">,
  known: Lookup<JsonValue>,
  texts?: Lookup<OutputTexts>,
): ResolvedOutputs {
  const parts = outputParts(plan.outputs);
  if (parts) return resolveParts(parts, plan, { outputs: known, texts });
  const outputs: JsonObject = {};
  for (const id of outputSteps(plan.outputs) ?? plan.steps.map((step) => step.id)) {
    const output = lookUp(known, id);
    if (output !== undefined) setOwn(outputs, id, output);
  }
  return { outputs, leftOut: [] };
}

function resolveParts(
  parts: JsonObject,
  { policy }: Pick<Plan, "policy">,
  known: KnownOutputs,
): ResolvedOutputs {
  const resolved = emptyOutputs();
  for (const [name, part] of Object.entries(parts)) addPart(resolved, { name, part, policy }, known);
  return { outputs: resolved.outputs, leftOut: resolved.leftOut };
}

type KnownOutputs = Pick<ResolveOptions, "outputs" | "texts">;

/**
 * Adds a part with resolved references, or records it as left out. Its size counts against the total of all
 * parts.
 */
export function addPart(
  resolved: GrowingOutputs,
  { name, part, policy }: { name: string; part: JsonValue } & Pick<Plan, "policy">,
  known: KnownOutputs,
): void {
  const onMissingField = policy.onMissingField === "null" ? "null" : "error";
  try {
    const { value } = resolveReferences(part, {
      ...known,
      policy: { onMissingField, onUnresolvedStep: "error" },
      maxSize: resolved.room,
    });
    resolved.room -= Math.min(resolved.room, JSON.stringify(value).length);
    setOwn(resolved.outputs, name, value);
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    const steps = [...new Set(scanReferences(part).map(({ root }) => root))];
    resolved.leftOut.push({ name, steps, message: error.message });
  }
}
