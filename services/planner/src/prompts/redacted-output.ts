import type { JsonValue } from "@planwright/plan";
import { redactJson } from "@planwright/runtime";

/** An output as a model may see it: a plan refers to what is in it and needs no secret itself. */
export function redactedOutput(output: JsonValue | undefined): JsonValue | undefined {
  return output === undefined ? undefined : redactJson(output, { maxDepth: 100 });
}
