import { isForEachStep, referencedSteps } from "@planwright/plan";
import type { Fail } from "./invariants.ts";
import type { PlanFacts, StepFacts } from "./plan-facts.ts";

/** Numbers of running calls of one run. */
interface Running {
  total: number;
  barriers: number;
  byTool: Map<string, number>;
}

/** Counts concurrent calls for each run of a plan. */
export interface LimitsCheck {
  /** A call of a run starts; the returned function ends it. */
  begin(run: string, facts: PlanFacts, step: StepFacts): () => void;
}

/** The memory of an executor, in bytes. */
export interface Memory {
  maxBytes: number;
  /** Outputs of this size together are large. */
  largeBytes: number;
}

/** All small requests together may exceed the memory by this part; each is smaller than the other part. */
const SMALL = { all: 1 / 16, each: 1 / 64 };

/** Counts the outputs that calls in progress insert, for each process. */
export function createMemoryCheck({ maxBytes, largeBytes }: Memory, fail: Fail): LimitsCheck {
  const inUse = new Map<string, number>();

  return {
    begin(process, facts, step) {
      const bytes = insertedBytes(facts, step);
      if (bytes <= largeBytes || bytes <= maxBytes * SMALL.each) return () => undefined;
      const before = inUse.get(process) ?? 0;
      if (before > 0 && before + bytes > maxBytes * (1 + SMALL.all))
        fail("memory-budget", `${process} inserts ${bytes} bytes beside ${before} of ${maxBytes}`);
      inUse.set(process, before + bytes);
      return () => void inUse.set(process, (inUse.get(process) ?? 0) - bytes);
    },
  };
}

/** Bytes of the outputs that a call inserts. An operator approves arguments that are there already. */
function insertedBytes({ plan, units }: PlanFacts, { step, tool }: StepFacts): number {
  if (isForEachStep(step) || step.approval === true || tool.needsApproval) return 0;
  const outputs = referencedSteps(step, plan).flatMap((id) => units.get(id)?.output ?? []);
  return outputs.reduce<number>((sum, output) => sum + JSON.stringify(output).length, 0);
}

export function createLimitsCheck(fail: Fail): LimitsCheck {
  const runs = new Map<string, Running>();

  return {
    begin(run, facts, { tool, toolName }) {
      const running = runs.get(run) ?? { total: 0, barriers: 0, byTool: new Map<string, number>() };
      runs.set(run, running);
      const ofTool = running.byTool.get(toolName) ?? 0;
      const { maxParallel } = facts.plan.policy;
      if (running.total >= maxParallel)
        fail("limits", `${run} starts call ${running.total + 1} of ${maxParallel}`);
      if (ofTool >= tool.limit) {
        fail("limits", `${run} starts call ${ofTool + 1} of ${toolName}, which takes ${tool.limit}`);
      }
      if (running.barriers > 0 || (tool.isBarrier && running.total > 0)) {
        fail("limits", `${run} starts ${toolName} beside a barrier (${running.total} running)`);
      }
      const change = (by: number): void => {
        running.total += by;
        running.byTool.set(toolName, (running.byTool.get(toolName) ?? 0) + by);
        if (tool.isBarrier) running.barriers += by;
      };
      change(1);
      return () => change(-1);
    },
  };
}
