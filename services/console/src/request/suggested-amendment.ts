import { isJsonObject, type JsonValue } from "@planwright/plan";

/** A new version that a diagnosis suggests, and the label of its button. */
export interface SuggestedAmendment {
  label: string;
  /** The arguments that differ between amendments. */
  change: { restoreVersion: number } | { patch: JsonValue };
}

/** Reads the arguments of a suggested amendPlan; undefined if they are something else. */
export function suggestedAmendment(given: unknown): SuggestedAmendment | undefined {
  const { restoreVersion = null, patch = null } = isJsonObject(given) ? given : {};
  if (typeof restoreVersion === "number")
    return { label: `Go back to version ${restoreVersion}`, change: { restoreVersion } };
  const [first] = Array.isArray(patch) ? patch : [];
  const tool = isJsonObject(first) ? first["value"] : undefined;
  return typeof tool === "string" ? { label: `Call ${tool} instead`, change: { patch } } : undefined;
}
