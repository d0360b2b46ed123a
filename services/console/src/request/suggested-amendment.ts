import { isJsonObject, type JsonValue } from "@planwright/plan";

/** A new version that a diagnosis suggests, and what a button for it says. */
export interface SuggestedAmendment {
  label: string;
  /** What of the arguments is not the same for every amendment. */
  change: { restoreVersion: number } | { patch: JsonValue };
}

/** Reads the arguments of a suggested amendPlan; undefined where they are no such. */
export function suggestedAmendment(given: unknown): SuggestedAmendment | undefined {
  const { restoreVersion = null, patch = null } = isJsonObject(given) ? given : {};
  if (typeof restoreVersion === "number")
    return { label: `Go back to version ${restoreVersion}`, change: { restoreVersion } };
  const [first] = Array.isArray(patch) ? patch : [];
  const tool = isJsonObject(first) ? first["value"] : undefined;
  return typeof tool === "string" ? { label: `Call ${tool} instead`, change: { patch } } : undefined;
}
