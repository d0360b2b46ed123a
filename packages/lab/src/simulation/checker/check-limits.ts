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
