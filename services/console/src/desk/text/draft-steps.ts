import { isObject } from "./json-record.ts";

/** A step as far as it can be read from a plan that is being written. */
export interface DraftStep {
  id: string;
  /** Empty while none is written. */
  tool: string;
  isList: boolean;
  dependsOn: string[];
}

/** Step ids in references: `<<id.path>>`, `{{id.path}}`, `$ref:id.path`. */
const REFERENCE = /(?:<<|\{\{|\$ref:)\s*([A-Za-z][\w-]*)/gu;

/**
 * The steps of a plan document with what they wait for: what they name, and what their references name. What
 * has no id yet, and the second step of the same id, is left out.
 */
export function draftSteps(document: unknown): DraftStep[] {
  const steps = isObject(document) && Array.isArray(document["steps"]) ? document["steps"] : [];
  const byId = new Map<string, Record<string, unknown>>();
  for (const step of steps) {
    const id = isObject(step) ? step["id"] : undefined;
    if (typeof id === "string" && id !== "" && !byId.has(id)) byId.set(id, step);
  }
  return [...byId].map(([id, step]) => ({
    id,
    tool: toolOf(step),
    isList: "forEach" in step,
    dependsOn: dependenciesOf(step).filter((name) => name !== id && byId.has(name)),
  }));
}

/** The tool that a step calls, for a list that of its items; empty while none is written. */
export function toolOf(step: unknown): string {
  if (!isObject(step)) return "";
  const { tool, forEach } = step;
  if (typeof tool === "string") return tool;
  return isObject(forEach) ? toolOf(forEach["do"]) : "";
}

function dependenciesOf({ dependsOn, ...rest }: Record<string, unknown>): string[] {
  const named = Array.isArray(dependsOn) ? dependsOn.filter((name) => typeof name === "string") : [];
  const referred = [...JSON.stringify(rest).matchAll(REFERENCE)].flatMap(([, name]) => name ?? []);
  return [...new Set([...named, ...referred])];
}
