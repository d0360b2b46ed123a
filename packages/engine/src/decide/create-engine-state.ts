import {
  DependencyCycleError,
  effectClassOf,
  findRelatedTool,
  isForEachStep,
  knownContract,
  MAX_STEP_TIMEOUT_MS,
  outputParts,
  type Plan,
  planGraph,
  referencedSteps,
  type Step,
  stepsInValue,
  type ToolContract,
  type ToolDescriptor,
  toolOfStep,
} from "@planwright/plan";
import { type Edges, edgesOf, remainingPaths, withoutCycles } from "../order/graph.ts";
import { Heap } from "../order/heap.ts";
import { createBarriers } from "../schedule/barriers.ts";
import { opensBefore, precedes } from "../schedule/slots.ts";
import type { Caller, EngineState, StepNode, ToolSlot, Unit } from "../state/engine-state.ts";
import { publishOutput, requestedSteps } from "../state/outputs.ts";
import type { StepError, StepRecord } from "../state/protocol.ts";
import { createCaller, createUnit } from "../state/units.ts";

/** What a state is made of. */
export interface EngineInput {
  /** A valid plan: see `validatePlan`. */
  plan: Plan;
  /** The catalogue; a step whose tool is missing fails with TOOL_NOT_FOUND when it would start. */
  tools: readonly ToolDescriptor[];
  /** Tools, by their names in the plan, that must not be called, and why: their steps fail with that when they would start. */
  refusals?: ReadonlyMap<string, StepError> | undefined;
  /** What is durably known of steps and items; empty for a plan that never ran. */
  records?: readonly StepRecord[] | undefined;
  /** Most that a step may ask for beyond the policy, in milliseconds. Default {@link MAX_STEP_TIMEOUT_MS}. */
  maxStepTimeoutMs?: number | undefined;
  /**
   * Expected duration of a step, in milliseconds: makes "longest remaining path" a time. Without it every step counts the
   * same. Must be a pure function of the step id, or determinism is lost.
   */
  expectedMs?: ((stepId: string) => number) | undefined;
  /** Most that the stored outputs may have together which one step refers to, in bytes; a step that wants more fails. Default: no limit. */
  maxReadBytes?: number | undefined;
}

/**
 * The state of a plan before its first event, or after a crash from its durable records. Takes O((V+E) log V).
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
    return new Node(step, index, { slot, rank, goesFirst: isFirst, opens }, stepRecords.get(step.id));
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
    outputs: new Map(),
    texts: new Map(),
    inMemory: new Map(),
    inMemoryBytes: 0,
    loading: new Map(),
    maxReadBytes,
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
  // Outputs are facts already: calls that were under way are resumed before anything else.
  for (const node of steps) publishOutput(state, node);
  return state;
}

/** Notes which steps read which outputs, and which outputs the plan returns. */
function linkReaders(state: EngineState): void {
  const { plan, steps, stepsById } = state;
  for (const node of steps) {
    const merged = plan.policy.mergeDependencyOutputs ? node.dependencies : [];
    const referred = referencedSteps(node.step, plan).flatMap((id) => stepsById.get(id) ?? []);
    node.reads.push(...new Set([...referred, ...merged]));
    for (const source of node.reads) source.readers++;
  }
  const parts = outputParts(plan.outputs);
  const inParts = parts ? stepsInValue(parts, plan).flatMap((id) => stepsById.get(id) ?? []) : [];
  for (const source of inParts) source.readers++;
  if (!parts) for (const node of requestedSteps(state)) node.isRequested = true;
}

/** The tool of each step, by position; steps of one tool share it. */
function toolSlots({ plan, tools, refusals }: EngineInput): ToolSlot[] {
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

function createSlot(
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
function goesFirst(plan: Plan, slot: ToolSlot | undefined): boolean {
  return plan.policy.navigation === "first" && slot?.contract.navigation === true;
}

/**
 * Dependencies by position: explicit, by reference, and by contract; without the explicit ones of navigation that goes first.
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
 * Adds what contracts demand: a step whose tool depends on another tool comes after the steps that call it, unless it depends
 * on one of them already. What the plan itself says wins where the two would make a cycle.
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
  const wanted = new Map([...new Set(slots)].map((slot) => [slot, wantedTools(slot, tools)]));
  const demanded = slots.map((slot, index) => {
    if (goesFirst(plan, slot)) return [];
    const own = new Set(edges.dependencies[index]);
    return (wanted.get(slot) ?? []).flatMap((tool) => {
      const providers = users.get(tool) ?? [];
      return providers.some((provider) => own.has(provider)) ? [] : providers;
    });
  });
  if (demanded.every((list) => list.length === 0)) return edges;
  const both = (allow: (provider: number, index: number) => boolean): Edges => ({
    ...edgesOf(
      edges.dependencies.map((list, index) => [
        ...list,
        ...(demanded[index] ?? []).filter((provider) => allow(provider, index)),
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
function wantedTools({ descriptor, contract }: ToolSlot, tools: readonly ToolDescriptor[]): string[] {
  if (!descriptor) return [];
  return contract.dependsOn.map(({ tool }) => findRelatedTool(tools, descriptor, tool)?.name ?? tool);
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

const byPosition = (a: Caller, b: Caller) => a.position < b.position;

/** What decides when a step starts, beside what it waits for. */
interface Start extends Pick<StepNode, "rank" | "goesFirst" | "opens"> {
  slot: ToolSlot;
}

class Node implements StepNode {
  readonly index: number;
  readonly step: Step;
  readonly tool: ToolSlot;
  readonly rank: number;
  readonly goesFirst: boolean;
  readonly unit: Unit;
  readonly dependencies: StepNode[] = [];
  readonly dependents: StepNode[] = [];
  readonly reads: StepNode[] = [];
  readers = 0;
  isRequested = false;
  readonly callers: StepNode["callers"] = new Heap(byPosition);
  opens: number | undefined;
  unmet = 0;
  final = false;
  admitted = false;
  condemned = false;
  readonly unanswered: ReadonlySet<string>;
  forEach: StepNode["forEach"] = undefined;
  approvable: StepNode["approvable"] = undefined;
  active = 0;
  heldCalls = 0;
  concurrency = 1;
  waitsIn: StepNode["waitsIn"] = "nowhere";

  constructor(step: Step, index: number, start: Start, record: StepRecord | undefined) {
    this.step = step;
    this.index = index;
    this.tool = start.slot;
    this.rank = start.rank;
    this.goesFirst = start.goesFirst;
    this.opens = start.opens;
    this.unanswered = new Set(record?.unanswered);
    this.unit = createUnit(this, step.id, undefined, record);
    if (!isForEachStep(step)) createCaller(this, step.id, 0, [this.unit]);
  }
}
