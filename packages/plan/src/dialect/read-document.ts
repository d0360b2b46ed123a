import { isJsonObject, type JsonValue } from "../json.ts";
import { type Findings } from "../validation/findings.ts";
import { at, type FieldNames, readFields } from "./read-fields.ts";
import { readOutputsField, type WrittenOutputs } from "./read-outputs.ts";

/** A document with its parts told apart, whichever dialect it is in. */
export interface PlanDocument {
  readonly calls: readonly JsonValue[];
  /** Ids or tools whose outputs were asked for, or parts by name. */
  readonly outputs: WrittenOutputs | undefined;
  /** Of the tool-chaining dialect: a list of tools or steps, or `sequential`, `parallel`. */
  readonly executionOrder: JsonValue | undefined;
  readonly policy: JsonValue | undefined;
  readonly limits: JsonValue | undefined;
}

const DOCUMENT_FIELDS: FieldNames = {
  formatVersion: ["formatVersion"],
  calls: ["steps", "tools", "calls"],
  outputs: ["outputs", "output_steps"],
  executionOrder: ["executionOrder"],
  policy: ["policy"],
  limits: ["limits"],
};

/**
 * Tells the parts of a plan document apart: `{steps, outputs}`, `{steps, output_steps}`, `{tools, executionOrder}`, `{calls}`, or
 * a list of calls. Undefined, with a finding, when there are no calls.
 */
export function readDocument(value: JsonValue, findings: Findings): PlanDocument | undefined {
  if (Array.isArray(value)) return withCalls({ calls: value }, findings);
  if (!isJsonObject(value)) {
    findings.add(
      "PLAN_SHAPE",
      {},
      { message: `${SHAPE}, not ${value === null ? "null" : `a ${typeof value}`}` },
    );
    return undefined;
  }
  const fields = readFields(value, DOCUMENT_FIELDS, {}, findings);
  const version = fields.get("formatVersion")?.value ?? 1;
  if (version !== 1) {
    const message = `formatVersion is ${JSON.stringify(version)?.slice(0, 40)}; this reader knows version 1`;
    findings.add("PLAN_VERSION_UNKNOWN", at({}, "formatVersion"), { message });
  }
  const calls = fields.get("calls");
  if (!Array.isArray(calls?.value)) {
    findings.add("PLAN_SHAPE", calls ? at({}, calls.name) : {}, { message: SHAPE });
    return undefined;
  }
  return withCalls(
    {
      calls: calls.value,
      outputs: readOutputsField(fields.get("outputs"), findings),
      executionOrder: fields.get("executionOrder")?.value,
      policy: fields.get("policy")?.value,
      limits: fields.get("limits")?.value,
    },
    findings,
  );
}

const SHAPE = 'A plan is {"steps": [{"id", "tool", "arguments"}]} or a list of calls';

function withCalls(
  document: { calls: JsonValue[] } & Partial<PlanDocument>,
  findings: Findings,
): PlanDocument | undefined {
  if (document.calls.length === 0) {
    findings.add("PLAN_EMPTY", at({}, "steps"), { message: "The plan has no steps; it needs at least one" });
    return undefined;
  }
  return { outputs: undefined, executionOrder: undefined, policy: undefined, limits: undefined, ...document };
}
