import type { JsonValue } from "@planwright/plan";
import { redactJson } from "@planwright/runtime";

/**
 * An output or a call that a model may see. A plan only refers to values of outputs, and the secrets of calls
 * are restored afterwards.
 */
export function withoutSecrets(value: JsonValue): JsonValue {
  return redactJson(value, { maxDepth: 100 });
}
