import type { JsonObject } from "@planwright/plan";

/** The effect class of a tool: what may happen when it is unknown whether a call arrived. */
export type ToolClass = "R" | "K" | "V" | "U";

/** Timeout of one call, in milliseconds: longer than a slow tool takes. */
export const STEP_TIMEOUT_MS = 2_500;

/** The tool whose limit holds over all plans. */
export const LIMITED_TOOL = "limited_read";

/**
 * What the oracle knows about a tool: written here again, so that it does not trust the engine's reading of
 * contracts.
 */
export interface ChaosTool {
  toolClass: ToolClass;
  /** A call leaves a line in the ledger. */
  isCounted: boolean;
  /** Takes up to four items of a list in one call. */
  isBatch?: true;
  /**
   * Default of its lists: they continue after a failed item. Absent for tools with side effects: they stop.
   */
  collects?: true;
}

/** Tools of the counting server that chaos plans use. */
export const CHAOS_TOOLS: Readonly<Record<string, ChaosTool>> = {
  noop: { toolClass: "R", isCounted: false, collects: true },
  read_value: { toolClass: "R", isCounted: false, collects: true },
  [LIMITED_TOOL]: { toolClass: "R", isCounted: false, collects: true },
  set_value: { toolClass: "R", isCounted: true },
  keyed_effect: { toolClass: "K", isCounted: true },
  sequential_effect: { toolClass: "K", isCounted: true },
  looked_up_effect: { toolClass: "V", isCounted: true },
  plain_effect: { toolClass: "U", isCounted: true },
  item_read: { toolClass: "R", isCounted: false, collects: true },
  item_keyed: { toolClass: "K", isCounted: true },
  item_plain: { toolClass: "U", isCounted: true },
  batch_read: { toolClass: "R", isCounted: false, isBatch: true, collects: true },
  batch_keyed: { toolClass: "K", isCounted: true, isBatch: true, collects: true },
};

/** One step as the generator made it. */
export interface ChaosStep {
  id: string;
  tool: string;
  dependsOn: readonly string[];
  /** Present when the step is a forEach; absent: one call. */
  list?: ChaosList | undefined;
  /** It reads how many items of this list succeeded. */
  tells?: string | undefined;
}

/** A list of calls. */
export interface ChaosList {
  /** How many. */
  items: number;
  /** Absent: by the contract of the tool. */
  errors?: "stop" | "collect" | undefined;
  /** Absent: 1. */
  minSuccess?: number | undefined;
  /** True: with many attempts, so that items rarely fail. */
  isTenacious?: boolean | undefined;
}

/** A plan to submit, and its steps. */
export interface ChaosPlan {
  /** From 0. Names the plan in labels, since its id is not known before it is accepted. */
  index: number;
  /**
   * `plan`: submitted as JSON; `query`: a sentence that a planner turns into this plan with the scripted
   * model.
   */
  via: "plan" | "query";
  steps: readonly ChaosStep[];
  document: JsonObject;
}

/** The sentence that stands for a plan; the scripted model finds the index in it. */
export function sentenceOf(index: number): string {
  return `Carry out chaos plan number ${index}.`;
}

/** The index in a text with such a sentence. */
export function indexInText(text: string): number | undefined {
  const found = /chaos plan number (\d+)\./.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** A unique value in the arguments of a call: the ledger has it even when the call has no key. */
export function labelOf(index: number, key: string): string {
  return `${index}/${key}`;
}
