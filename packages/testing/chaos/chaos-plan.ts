import type { JsonObject } from "@planwright/plan";

/** What a tool's effects may do when nobody knows whether a call arrived. */
export type ToolClass = "R" | "K" | "V" | "U";

/** The tool whose limit holds over all plans. */
export const LIMITED_TOOL = "limited_read";

/** Tools of the counting server that chaos plans use; `isCounted`: a call leaves a line in the ledger. */
export const CHAOS_TOOLS: Readonly<Record<string, { toolClass: ToolClass; isCounted: boolean }>> = {
  noop: { toolClass: "R", isCounted: false },
  read_value: { toolClass: "R", isCounted: false },
  [LIMITED_TOOL]: { toolClass: "R", isCounted: false },
  set_value: { toolClass: "R", isCounted: true },
  keyed_effect: { toolClass: "K", isCounted: true },
  sequential_effect: { toolClass: "K", isCounted: true },
  looked_up_effect: { toolClass: "V", isCounted: true },
  plain_effect: { toolClass: "U", isCounted: true },
};

/** One step as the harness made it. */
export interface ChaosStep {
  id: string;
  tool: string;
  dependsOn: readonly string[];
  /** Number of items when the step is a forEach. */
  items?: number | undefined;
}

/** A plan to hand in, and what it holds. */
export interface ChaosPlan {
  /** From 0. Names the plan in labels, since its id is not known before it is accepted. */
  index: number;
  /** `plan`: handed in as JSON; `query`: a sentence that a planner turns into this plan with the scripted model. */
  via: "plan" | "query";
  steps: readonly ChaosStep[];
  document: JsonObject;
}

/** The sentence that stands for a plan; the scripted model finds the index in it. */
export function sentenceOf(index: number): string {
  return `Carry out chaos plan number ${index}.`;
}

/** The index in a text that holds such a sentence. */
export function indexInText(text: string): number | undefined {
  const found = /chaos plan number (\d+)\./.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** Unique value that a step puts into its call's arguments: the ledger names it even when a call carries no key. */
export function labelOf(index: number, key: string): string {
  return `${index}/${key}`;
}
