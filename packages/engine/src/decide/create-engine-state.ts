import {
  LARGE_JSON_BYTES,
  MAX_STEP_TIMEOUT_MS,
  outputParts,
  type Plan,
  referencedSteps,
  referencesInArguments,
  stepsInValue,
  type ToolDescriptor,
  toolOfStep,
} from "@planwright/plan";
import { remainingPaths } from "../order/graph.ts";
import { Heap } from "../order/heap.ts";
import { createBarriers } from "../schedule/barriers.ts";
import { opensBefore, precedes } from "../schedule/slots.ts";
import type { EngineState } from "../state/engine-state.ts";
import { HeldOutputs } from "../state/held-outputs.ts";
import { publishOutput, requestedSteps } from "../state/outputs.ts";
import type { StepError, StepRecord } from "../state/protocol.ts";
import { requiredSources } from "../state/required-fields.ts";
import { createStepNode } from "../state/step-node.ts";
import { edgesOfPlan } from "./plan-edges.ts";
import { createSlot, goesFirst, toolSlots } from "./tool-slots.ts";

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
