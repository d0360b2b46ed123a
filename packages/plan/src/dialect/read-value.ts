import type { DiagnosticCollector, Where } from "../diagnostics/diagnostic-collector.ts";
import { copyJson, type JsonCopy, unfitText } from "../json/copy-json.ts";
import type { JsonValue } from "../json/json.ts";
import { parseJson } from "../json/parse-json.ts";
import type { Limits } from "../policy/limits.ts";

/** Levels that the document adds around the arguments, to which the limit applies. */
const LEVELS_AROUND_ARGUMENTS = 8;
/** Indented text is larger than the document; text over this factor is refused without parsing. */
const TEXT_FACTOR = 8;

/**
 * A copy of the input as JSON, from a value or from JSON text; undefined, with a diagnostic, when it is not
 * JSON or too large.
 */
export function readValue(
  input: unknown,
  limits: Limits,
  diagnostics: DiagnosticCollector,
): JsonValue | undefined {
  if (typeof input !== "string") return copyWithin(input, limits, diagnostics);
  if (input.length > limits.maxBytes * TEXT_FACTOR) {
    tooLarge(limits, diagnostics);
    return undefined;
  }
  const parsed = parseJson(input);
  if (parsed.ok) return copyWithin(parsed.value, limits, diagnostics);
  const message = `The plan is not valid JSON: ${parsed.message}`;
  diagnostics.add("PLAN_NOT_JSON", {}, { message });
  return undefined;
}

function copyWithin(input: unknown, limits: Limits, diagnostics: DiagnosticCollector): JsonValue | undefined {
  const { maxBytes, maxDepth } = limits;
  const copy = copyJson(input, { maxBytes, maxDepth: maxDepth + LEVELS_AROUND_ARGUMENTS });
  if (copy.ok) {
    refuseUnfit(copy, diagnostics);
    return copy.value;
  }
  switch (copy.problem) {
    case "not-json":
      diagnostics.add(
        "PLAN_NOT_JSON",
        {},
        { message: `The plan holds something that is not JSON at ${copy.path}` },
      );
      return undefined;
    case "too-deep":
      diagnostics.add(
        "LIMIT_DEPTH",
        {},
        { message: `The plan is nested deeper than ${maxDepth} levels at ${copy.path}` },
      );
      return undefined;
    case "too-large":
      tooLarge(limits, diagnostics);
      return undefined;
  }
}

/** Reports a field or a text that no plan can have, so that no argument is lost or changed without a word. */
export function refuseUnfit({ unfit }: JsonCopy, diagnostics: DiagnosticCollector, where: Where = {}): void {
  if (unfit === undefined) return;
  const code = unfit.problem === "half character" ? "PLAN_NOT_JSON" : "FIELD_UNKNOWN";
  diagnostics.add(code, where, { message: unfitText(unfit) });
}

function tooLarge({ maxBytes }: Limits, diagnostics: DiagnosticCollector): void {
  diagnostics.add("LIMIT_BYTES", {}, { message: `The plan is larger than ${maxBytes} bytes; split it` });
}
