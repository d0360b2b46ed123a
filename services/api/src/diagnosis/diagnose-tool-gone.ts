import { nearestName, toolOfStep } from "@planwright/plan";
import type { NextAction } from "./diagnosis.ts";
import type { DiagnosisFacts, PlanFact, StepFact } from "./facts.ts";
import { callOtherTool, replan } from "./next-actions.ts";
import { clipped } from "./wording.ts";

/** What is said of a tool that no server offers any more, and what is to be done first. */
export interface ToolGone {
  reason: string;
  next: readonly NextAction[];
}

/** Most steps that one action gives another tool. */
const MAX_STEPS = 100;

/** A tool that is not offered any more, with the tool of the nearest name: it may have been renamed. Pure. */
export function diagnoseToolGone(facts: DiagnosisFacts, plan: PlanFact, { tool }: StepFact): ToolGone {
  const name = clipped(tool, 128);
  const near = nearestName(
    tool,
    facts.tools.map((known) => known.name),
  );
  if (near === undefined) {
    const anew = "Have the planner make the rest anew with the tools that there are; what completed is kept:";
    const next = plan.origin.kind === "model" ? [replan(facts.request, anew)] : [];
    return { reason: `No server offers ${name} right now.`, next };
  }
  const paths = placesOf(plan, tool);
  const say = `If ${near} is the same tool under another name, have it called instead, with the same arguments; what completed is kept:`;
  return {
    reason: `No server offers ${name} right now; the nearest name is ${near}.`,
    next:
      paths.length > 0 && paths.length <= MAX_STEPS
        ? [callOtherTool(facts.request, { paths, tool: near }, say)]
        : [],
  };
}

/** Where the document names the tool, as JSON Pointers. */
function placesOf({ document }: PlanFact, tool: string): string[] {
  return (document?.steps ?? []).flatMap((step, index) =>
    toolOfStep(step) === tool ? [`/steps/${index}/${"forEach" in step ? "forEach/do/tool" : "tool"}`] : [],
  );
}
