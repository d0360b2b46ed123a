import { isObject } from "./json-record.ts";

/** The readable part of a step in a plan that is being written. */
export interface DraftStep {
  id: string;
  /** Empty while the text has no tool. */
  tool: string;
  isList: boolean;
  dependsOn: string[];
}

/** Step ids in references: `<<id.path>>`, `{{id.path}}`, `$ref:id.path`. */
const REFERENCE = /(?:<<|\{\{|\$ref:)\s*([A-Za-z][\w-]*)/gu;

/**
 * The steps of a plan document with their dependencies: those in `dependsOn`, and those that references name.
 * A step without an id and a second step with the same id are left out.
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

/** The tool that a step, or each item of a list, calls; empty while the text has no tool. */
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
