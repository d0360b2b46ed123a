import { isJsonObject, type JsonObject, type JsonValue } from "@planwright/plan";

const REFERENCE = /(<<.+?>>)/;
const NEVER_SEEN = /: (\S+) was never seen in [^(]*\(([^)]*)\)/;

/**
 * Repairs the last plan of a conversation as the diagnostics after it say; null without diagnostics. A
 * reference is replaced by the suggestion of the diagnostic, otherwise by the listed field that the request
 * is about. Nothing else changes.
 * @param texts - the messages of the conversation
 * @param meant - names of the fields that the request is about
 */
export function repairedPlan(texts: readonly string[], meant: ReadonlySet<string>): JsonObject | null {
  const [previous = "", diagnostics = ""] = texts.slice(-2);
  if (!diagnostics.includes("Findings:")) return null;
  const plan: JsonValue = JSON.parse(previous);
  if (!isJsonObject(plan)) return null;
  return diagnostics
    .split("\n")
    .flatMap(diagnosticIn)
    .reduce((changed, diagnostic) => repair(changed, diagnostic, meant), plan);
}

function diagnosticIn(line: string): JsonObject[] {
  if (!line.startsWith("{")) return [];
  const diagnostic: JsonValue = JSON.parse(line);
  return isJsonObject(diagnostic) ? [diagnostic] : [];
}

function repair(
  plan: JsonObject,
  { stepId, message, suggestion }: JsonObject,
  meant: ReadonlySet<string>,
): JsonObject {
  const text = typeof message === "string" ? message : "";
  const reference = REFERENCE.exec(text)?.[1];
  const [, unknown, listed = ""] = NEVER_SEEN.exec(text) ?? [];
  const better = suggestion ?? listed.split(", ").find((name) => meant.has(name));
  if (reference === undefined || typeof better !== "string") return plan;
  const written = better.startsWith("<<") ? better : renamed(reference, unknown, better);
  const isAffected = (part: JsonValue) =>
    stepId === undefined || (isJsonObject(part) && part["id"] === stepId);
  const { steps, outputs } = plan;
  return {
    ...plan,
    ...(Array.isArray(steps) && {
      steps: steps.map((step) => (isAffected(step) ? replaced(step, reference, written) : step)),
    }),
    ...(outputs !== undefined && {
      outputs: stepId === undefined ? replaced(outputs, reference, written) : outputs,
    }),
  };
}

function replaced(value: JsonValue, reference: string, written: string): JsonValue {
  return JSON.parse(JSON.stringify(value).replaceAll(inJson(reference), inJson(written)));
}

const inJson = (text: string) => JSON.stringify(text).slice(1, -1);

/** The reference with one name replaced. */
function renamed(reference: string, unknown: string | undefined, name: string): string {
  const at = unknown === undefined ? -1 : reference.lastIndexOf(`.${unknown}`);
  if (at < 0 || unknown === undefined) return reference;
  return `${reference.slice(0, at)}.${name}${reference.slice(at + 1 + unknown.length)}`;
}
