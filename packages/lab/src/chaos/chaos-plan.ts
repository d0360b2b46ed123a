import type { JsonObject } from "@planwright/plan";

/** The effect class of a tool: what may happen when it is unknown whether a call arrived. */
export type ToolClass = "R" | "K" | "V" | "U";

/** Timeout of one call, in milliseconds: longer than the slowest usual call. */
export const STEP_TIMEOUT_MS = 2_500;

/** The tool with a limit across all plans. */
export const LIMITED_TOOL = "limited_read";

/**
 * The facts about a tool that the oracle uses. They are written here again, so that the oracle does not
 * depend on how the engine reads contracts.
 */
export interface ChaosTool {
  toolClass: ToolClass;
  /** True when a call writes a line to the ledger. */
  isCounted: boolean;
  /** Takes up to four items of a list in one call. */
  isBatch?: true;
  /**
   * Lists of this tool continue after a failed item by default. Absent for tools with side effects: their
   * lists stop.
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
  /** Id of a list; this step reads how many of its items succeeded. */
  countsList?: string | undefined;
}

/** A list of calls. */
export interface ChaosList {
  /** Number of items. */
  items: number;
  /** Absent: by the contract of the tool. */
  errors?: "stop" | "collect" | undefined;
  /** Absent: 1. */
  minSuccess?: number | undefined;
  /** True: many attempts for each call, so that items rarely fail. */
  hasManyAttempts?: boolean | undefined;
}

/**
 * The tenants of a run: their share of the plans, and the weight that an operator has set. The one with most
 * plans has the fewest turns.
 */
export const TENANTS = {
  large: { share: 6, weight: 1 },
  middle: { share: 3, weight: 2 },
  small: { share: 1, weight: 5 },
} as const;
export type Tenant = keyof typeof TENANTS;

/** A plan to submit, and its steps. */
export interface ChaosPlan {
  /** From 0. Labels contain the index, because the plan's id is not known before the plan is accepted. */
  index: number;
  tenant: Tenant;
  /**
   * `plan`: submitted as JSON. `query`: a sentence that a planner turns into this plan with the scripted
   * model.
   */
  via: "plan" | "query";
  steps: readonly ChaosStep[];
  document: JsonObject;
}

/** The sentence from which a planner makes the plan; the scripted model finds the index in it. */
export function sentenceOf(index: number): string {
  return `Carry out chaos plan number ${index}.`;
}

/** The index in a text with such a sentence. */
export function indexInText(text: string): number | undefined {
  const found = /chaos plan number (\d+)\./.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** A unique value in the arguments of a call, by which the ledger identifies the unit even without a key. */
export function labelOf(index: number, key: string): string {
  return `${index}/${key}`;
}
