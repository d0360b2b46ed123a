import { Heap, isForEachStep, type Step } from "@planwright/plan";
import type { Caller, StepNode, ToolSlot, Unit } from "./engine-state.ts";
import type { StepRecord } from "./protocol.ts";
import { createCaller, createUnit } from "./units.ts";

const byPosition = (a: Caller, b: Caller) => a.position < b.position;

/** What decides when a step starts, besides its dependencies. */
interface StepStart extends Pick<StepNode, "rank" | "goesFirst" | "opens"> {
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
  readonly inserts: StepNode[] = [];
  readers = 0;
  isRequested = false;
  readonly callers: StepNode["callers"] = new Heap(byPosition);
  opens: number | undefined;
  unmet = 0;
  final = false;
  admitted = false;
  isDoneBefore = false;
  skipChecked = false;
  readonly unanswered: ReadonlySet<string>;
  forEach: StepNode["forEach"] = undefined;
  approvable: StepNode["approvable"] = undefined;
  active = 0;
  heldCalls = 0;
  concurrency = 1;
  waitsIn: StepNode["waitsIn"] = "nowhere";

  constructor(step: Step, index: number, start: StepStart, record: StepRecord | undefined) {
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

/** The node of a step, not linked to other nodes yet. @param record - its durable record */
export function createStepNode(
  step: Step,
  index: number,
  start: StepStart,
  record: StepRecord | undefined,
): StepNode {
  return new Node(step, index, start, record);
}
