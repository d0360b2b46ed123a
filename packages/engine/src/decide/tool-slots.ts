/** The tools of a plan, each with its contract and its running calls. */
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

/** Input of {@link toolSlots}. */
export interface ToolSlotsInput {
  plan: Plan;
  tools: readonly ToolDescriptor[];
  /** Tools that must not be called, by their names in the plan, with the error. */
  refusals?: ReadonlyMap<string, StepError> | undefined;
}

/** The tool slot of each step, by position; steps with the same tool share one. */
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

/**
 * A slot for the tool of this name, without users.
 * @param descriptor - undefined when the tool is not known
 */
export function createSlot(
  name: string,
  descriptor: ToolDescriptor | undefined,
  plan: Plan,
  refusal?: StepError,
): ToolSlot {
  const { contract, sources, isReadOnlyBelieved } = knownContract(
    descriptor ?? { name },
    plan.policy.unannotated,
  );
  return {
    name,
    descriptor,
    refusal: refusal ?? (descriptor ? undefined : unknownTool(name)),
    contract,
    declaresErrorPropagation:
      sources.errorPropagation !== "default" && sources.errorPropagation !== "annotations",
    effectClass: effectClassOf(contract),
    onlyReads: !contract.sideEffects || isReadOnlyBelieved,
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

/** True for navigation that starts at once, regardless of the order in the plan. */
export function goesFirst(plan: Plan, slot: ToolSlot | undefined): boolean {
  return plan.policy.navigation === "first" && slot?.contract.navigation === true;
}
