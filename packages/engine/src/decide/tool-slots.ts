/** The tools of a plan, each with its contract and the calls that run. */
import {
  effectClassOf,
  knownContract,
  type Plan,
  type ToolContract,
  type ToolDescriptor,
  toolOfStep,
} from "@planwright/plan";
import { Heap } from "../order/heap.ts";
import { precedes } from "../schedule/slots.ts";
import type { ToolSlot } from "../state/engine-state.ts";
import type { StepError } from "../state/protocol.ts";

/** What tools are found in. */
export interface ToolSlotsInput {
  plan: Plan;
  tools: readonly ToolDescriptor[];
  /** Tools, by their names in the plan, that must not be called, and why. */
  refusals?: ReadonlyMap<string, StepError> | undefined;
}

/** The tool of each step, by position; steps of one tool share it. */
export function toolSlots({ plan, tools, refusals }: ToolSlotsInput): ToolSlot[] {
  const known = new Map(tools.map((tool) => [tool.name, tool]));
  const slots = new Map<string, ToolSlot>();
  return plan.steps.map((step) => {
    const name = toolOfStep(step);
    const slot = slots.get(name) ?? createSlot(name, known.get(name), plan, refusals?.get(name));
    slots.set(name, slot);
    slot.users++;
    return slot;
  });
}

/** The tool of this name, which no step uses yet. @param descriptor - undefined when the tool is not known */
export function createSlot(
  name: string,
  descriptor: ToolDescriptor | undefined,
  plan: Plan,
  refusal?: StepError,
): ToolSlot {
  const { contract, sources } = knownContract(descriptor ?? { name }, plan.policy.unannotated);
  return {
    name,
    descriptor,
    refusal: refusal ?? (descriptor ? undefined : unknownTool(name)),
    contract,
    declaresErrorPropagation:
      sources.errorPropagation !== "default" && sources.errorPropagation !== "annotations",
    effectClass: effectClassOf(contract),
    limit: limitOf(contract),
    users: 0,
    running: 0,
    blocked: new Heap(precedes),
  };
}

function unknownTool(name: string): StepError {
  return { code: "TOOL_NOT_FOUND", message: `Tool ${name} is not known`, retryable: false };
}

function limitOf(contract: ToolContract): number {
  if (contract.mode === "sequential-only") return 1;
  return contract.maxConcurrency ?? Number.POSITIVE_INFINITY;
}

/** Navigation that starts at once, whatever the plan says about its order. */
export function goesFirst(plan: Plan, slot: ToolSlot | undefined): boolean {
  return plan.policy.navigation === "first" && slot?.contract.navigation === true;
}
