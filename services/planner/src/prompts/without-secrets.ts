import type { JsonValue } from "@planwright/plan";
import { redactJson } from "@planwright/runtime";

/** An output or a call as a model may see it: a plan refers to what is in an output, and what a call holds is put back into its place. */
export function withoutSecrets(value: JsonValue): JsonValue {
  return redactJson(value, { maxDepth: 100 });
}
