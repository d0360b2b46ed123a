import {
  classedBy,
  DependencyCycleError,
  findRelatedTool,
  Heap,
  knownContract,
  LARGE_JSON_BYTES,
  MAX_STEP_TIMEOUT_MS,
  outputParts,
  type Plan,
  planGraph,
  referencedSteps,
  referencesInArguments,
  stepsInValue,
  type ToolContract,
  type ToolDescriptor,
  toolOfStep,
} from "@planwright/plan";
import { createBarriers, type Edges, edgesOf, remainingPaths, withoutCycles } from "../schedule/barriers.ts";
import { opensBefore, precedes } from "../schedule/slots.ts";
import { requiredSources } from "../state/arguments.ts";
import { type EngineState, HeldOutputs, type ToolSlot } from "../state/engine-state.ts";
import { publishOutput, requestedSteps } from "../state/outputs.ts";
import type { StepError, StepRecord } from "../state/protocol.ts";
import { createStepNode } from "../state/step-node.ts";

/** Input of {@link createEngineState}. */
export interface EngineInput {
  /** A valid plan: see `validatePlan`. */
  plan: Plan;
  /** The catalogue; a step whose tool is missing fails with TOOL_NOT_FOUND when it would start. */
  tools: readonly ToolDescriptor[];
  /**
   * Tools that must not be called, by their names in the plan, with the error: their steps fail with it when
   * they would start.
   */
  refusals?: ReadonlyMap<string, StepError> | undefined;
  /** The durable records of steps and items; empty for a plan that never ran. */
  records?: readonly StepRecord[] | undefined;
  /** Upper limit for a step's own timeout, in milliseconds. Default {@link MAX_STEP_TIMEOUT_MS}. */
  maxStepTimeoutMs?: number | undefined;
  /**
   * Expected duration of a step, in milliseconds: the longest remaining path is then a time. Without it every
   * step counts 1. Must be a pure function of the step id, so that `decide` stays deterministic.
   */
  expectedMs?: ((stepId: string) => number) | undefined;
  /**
   * Upper limit for the total size of the stored outputs that one step refers to, in bytes. A step that
   * exceeds it fails. Default: no limit.
   */
  maxReadBytes?: number | undefined;
  /**
   * Calls that insert more bytes of outputs into their arguments are resolved by the shell. Default {@link
   * LARGE_JSON_BYTES}.
   */
  largeBytes?: number | undefined;
}

/**
 * The state of a plan before its first event, or after a crash from its durable records. Takes O((V+E) log
 * V).
 * @throws {DependencyCycleError} when steps wait for each other and the policy is `onCycle: "error"`
 */
export function createEngineState(input: EngineInput): EngineState {
  const { plan, tools, records = [], expectedMs } = input;
  const { maxStepTimeoutMs = MAX_STEP_TIMEOUT_MS, maxReadBytes = Number.POSITIVE_INFINITY } = input;
  const slots = toolSlots(input);
  const edges = edgesOfPlan(plan, slots, tools);
  const paths = remainingPaths(edges, (index) => expectedMs?.(plan.steps[index]?.id ?? "") ?? 1);
  const { stepRecords, itemRecords } = groupRecords(records);
  const steps = plan.steps.map((step, index) => {
    const slot = slots[index] ?? createSlot(toolOfStep(step), undefined, plan);
    const isFirst = goesFirst(plan, slot);
    const rank = isFirst ? Number.POSITIVE_INFINITY : (paths[index] ?? 1);
    const opens = edges.openers?.get(index);
    return createStepNode(step, index, { slot, rank, goesFirst: isFirst, opens }, stepRecords.get(step.id));
  });
  for (const [index, node] of steps.entries()) {
    for (const other of edges.dependencies[index] ?? [])
      if (steps[other]) node.dependencies.push(steps[other]);
    for (const other of edges.dependents[index] ?? []) if (steps[other]) node.dependents.push(steps[other]);
    node.unmet = node.dependencies.length;
  }
  const state: EngineState = {
    plan,
    maxStepTimeoutMs,
    steps,
    stepsById: new Map(steps.map((node) => [node.step.id, node])),
    units: new Map(steps.map((node) => [node.unit.key, node.unit])),
    outputs: new HeldOutputs(),
    texts: new Map(),
    inMemory: new Map(),
    inMemoryBytes: 0,
    loading: new Map(),
    answers: new Map(),
    maxReadBytes,
    largeBytes: input.largeBytes ?? LARGE_JSON_BYTES,
    requestedBytes: 0,
    parts: undefined,
    statuses: new Map(),
    itemRecords,
    onlyReadOnlyTools: slots.every(({ contract }) => !contract.sideEffects),
    ready: new Heap(precedes),
    barriers: createBarriers(steps, edges),
    readyBarriers: new Heap(precedes),
    openers: new Heap(opensBefore),
    waits: new Heap((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order)),
    waitCounter: 0,
    timerAt: undefined,
    calls: new Map(),
    running: 0,
    barrierRunning: false,
    unacknowledged: 0,
    left: steps.length,
    inDoubt: 0,
    awaitingApproval: 0,
    approvalsExpireAt: undefined,
    started: false,
    paused: false,
    held: [],
    heldCalls: [],
    stopping: undefined,
    graceEndsAt: undefined,
    isGraceOver: false,
    failedBy: undefined,
    failing: false,
    firstFailure: undefined,
    firstShortfall: undefined,
    finished: false,
  };
  linkReaders(state);
  // Outputs are published before `started`, because calls that were running are resumed first and may read
  // them.
  for (const node of steps) publishOutput(state, node);
  return state;
}

/** Notes which steps read which outputs, and which outputs the plan returns. */
function linkReaders(state: EngineState): void {
  const { plan, steps, stepsById } = state;
  for (const node of steps) {
    const merged = plan.policy.mergeDependencyOutputs ? node.dependencies : [];
    const referred = referencedSteps(node.step, plan).flatMap((id) => stepsById.get(id) ?? []);
    const required = requiredSources(node).flatMap(({ sources }) => sources);
    node.reads.push(...new Set([...referred, ...merged, ...required]));
    for (const source of node.reads) source.readers++;
    const inserted = referencesInArguments(node.step, plan).flatMap((id) => stepsById.get(id) ?? []);
    node.inserts.push(...inserted, ...merged, ...required);
  }
  const parts = outputParts(plan.outputs);
  const inParts = parts ? stepsInValue(parts, plan).flatMap((id) => stepsById.get(id) ?? []) : [];
  for (const source of inParts) source.readers++;
  if (!parts) for (const node of requestedSteps(state)) node.isRequested = true;
}

function groupRecords(records: readonly StepRecord[]) {
  const stepRecords = new Map<string, StepRecord>();
  const itemRecords = new Map<string, Map<number, StepRecord>>();
  for (const record of records) {
    if (record.item === undefined) {
      stepRecords.set(record.stepId, record);
      continue;
    }
    const items = itemRecords.get(record.stepId) ?? new Map<number, StepRecord>();
    items.set(record.item, record);
    itemRecords.set(record.stepId, items);
  }
  return { stepRecords, itemRecords };
}

/* The dependency edges of a plan. */

/**
 * Dependencies by step position: explicit, by reference, and by contract. Navigation that goes first has no
 * explicit dependencies.
 * @throws {DependencyCycleError} when steps wait for each other and the policy is `onCycle: "error"`
 */
function edgesOfPlan(plan: Plan, slots: readonly ToolSlot[], tools: readonly ToolDescriptor[]): Edges {
  const positions = new Map(plan.steps.map((step, index) => [step.id, index]));
  const { dependencies, cycle } = planGraph(plan);
  const lists = plan.steps.map((step, index) => {
    const all = dependencies.get(step.id) ?? [];
    const references = () => new Set(referencedSteps(step, plan));
    const kept = goesFirst(plan, slots[index]) ? all.filter((id) => references().has(id)) : all;
    return kept.flatMap((id) => positions.get(id) ?? []);
  });
  const acyclic = withoutCycles(edgesOf(lists), plan.policy.onCycle);
  if (!acyclic) throw new DependencyCycleError(cycle ?? []);
  return withContractDependencies(plan, slots, tools, acyclic);
}

/**
 * Adds dependencies that contracts require: a step whose tool depends on another tool comes after the steps
 * that call that tool, unless it depends on one of them already. When the two would form a cycle, the plan
 * wins.
 */
function withContractDependencies(
  plan: Plan,
  slots: readonly ToolSlot[],
  tools: readonly ToolDescriptor[],
  edges: Edges,
): Edges {
  if (slots.every(({ contract }) => contract.dependsOn.length === 0)) return edges;
  const users = new Map<string, number[]>();
  for (const [index, { name }] of slots.entries()) {
    const list = users.get(name) ?? [];
    list.push(index);
    users.set(name, list);
  }
  const requiredTools = new Map([...new Set(slots)].map((slot) => [slot, requiredToolsOf(slot, tools)]));
  const required = slots.map((slot, index) => {
    if (goesFirst(plan, slot)) return [];
    const existing = new Set(edges.dependencies[index]);
    return (requiredTools.get(slot) ?? []).flatMap((tool) => {
      const providers = users.get(tool) ?? [];
      return providers.some((provider) => existing.has(provider)) ? [] : providers;
    });
  });
  if (required.every((list) => list.length === 0)) return edges;
  const both = (allow: (provider: number, index: number) => boolean): Edges => ({
    ...edgesOf(
      edges.dependencies.map((list, index) => [
        ...list,
        ...(required[index] ?? []).filter((provider) => allow(provider, index)),
      ]),
    ),
    ...(edges.openers ? { openers: edges.openers } : {}),
  });
  const depths = remainingPaths(edges, () => 1);
  const isEarlier = (provider: number, index: number) => (depths[provider] ?? 0) > (depths[index] ?? 0);
  return (
    withoutCycles(
      both(() => true),
      "error",
    ) ?? both(isEarlier)
  );
}

/** Names of the tools that a tool's contract depends on. */
function requiredToolsOf({ descriptor, contract }: ToolSlot, tools: readonly ToolDescriptor[]): string[] {
  if (!descriptor) return [];
  return contract.dependsOn.map(({ tool }) => findRelatedTool(tools, descriptor, tool)?.name ?? tool);
}

/* The tools of a plan, each with its contract and its running calls. */

/** Input of {@link toolSlots}. */
interface ToolSlotsInput {
  plan: Plan;
  tools: readonly ToolDescriptor[];
  /** Tools that must not be called, by their names in the plan, with the error. */
  refusals?: ReadonlyMap<string, StepError> | undefined;
}

/** The tool slot of each step, by position; steps with the same tool share one. */
function toolSlots({ plan, tools, refusals }: ToolSlotsInput): ToolSlot[] {
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
function createSlot(
  name: string,
  descriptor: ToolDescriptor | undefined,
  plan: Plan,
  refusal?: StepError,
): ToolSlot {
  const { contract, sources, isReadOnlyBelieved } = knownContract(
    descriptor ?? { name },
    plan.policy.unannotated,
  );
  const classed = classedBy(contract);
  const onlyReads = !contract.sideEffects || isReadOnlyBelieved;
  return {
    name,
    descriptor,
    refusal: refusal ?? (descriptor ? undefined : unknownTool(name)),
    contract,
    declaresErrorPropagation:
      sources.errorPropagation !== "default" && sources.errorPropagation !== "annotations",
    ...classed,
    onlyReads,
    ofCall: { tool: name, ...classed, mayAct: !onlyReads },
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
function goesFirst(plan: Plan, slot: ToolSlot | undefined): boolean {
  return plan.policy.navigation === "first" && slot?.contract.navigation === true;
}
