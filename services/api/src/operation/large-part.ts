import {
  type JsonValue,
  type Plan,
  parseExactJson,
  resolveOutputs,
  stringifyExactJson,
} from "@planwright/plan";

/** A named output of a plan that refers to large outputs. Plain data: another thread makes it. */
export interface LargePart {
  name: string;
  part: JsonValue;
  policy: Plan["policy"];
  /** By step id: outputs as values, and the JSON texts of others in UTF-8, in pieces. */
  values: readonly (readonly [stepId: string, value: JsonValue])[];
  texts: readonly (readonly [stepId: string, pieces: readonly Uint8Array[]])[];
}

/** Its JSON text in UTF-8; null when it refers to a missing value or is too long. Takes as long as reading the outputs. */
export function makeLargePart({
  name,
  part,
  policy,
  values,
  texts,
}: LargePart): Uint8Array<ArrayBuffer> | null {
  const known = new Map(values);
  for (const [stepId, pieces] of texts)
    known.set(stepId, parseExactJson(Buffer.concat(pieces).toString("utf8")));
  const { outputs } = resolveOutputs({ steps: [], outputs: { [name]: part }, policy }, known);
  const value = Object.hasOwn(outputs, name) ? outputs[name] : undefined;
  return value === undefined ? null : new TextEncoder().encode(stringifyExactJson(value));
}
