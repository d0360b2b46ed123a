import { findLeftOut, nearestName, toolOfStep } from "@planwright/plan";
import type { NextAction } from "./diagnosis.ts";
import type { DiagnosisFacts, PlanFact, StepFact } from "./facts.ts";
import { amendPart, replan, rerun } from "./next-actions.ts";
import { clipped } from "./wording.ts";

/** The reason and the first action for a tool that no server offers any more. */
export interface ToolGone {
  reason: string;
  next: readonly NextAction[];
}

/** Most steps for which one action changes the tool. */
const MAX_STEPS = 100;

/** The server that offered the tool of a step when the plan was made; undefined when that is not recorded. */
export function pinnedServer({ toolPins }: PlanFact, { tool }: StepFact): string | undefined {
  return toolPins?.find((pin) => pin.tool === tool)?.server ?? undefined;
}

/**
 * A tool that is no longer offered: why a server that lists it cannot offer it, or that its server is gone;
 * otherwise the tool of the same server that has the most similar name, because it may have been renamed. The
 * tool of another server is another tool, which is not called in its place. Pure.
 */
export function diagnoseToolGone(facts: DiagnosisFacts, plan: PlanFact, step: StepFact): ToolGone {
  const { tool } = step;
  const name = clipped(tool, 128);
  const leftOut = findLeftOut(facts.leftOut, tool);
  const server = pinnedServer(plan, step);
  const sameServer = facts.tools.filter((known) => server === undefined || known.server === server);
  if (!leftOut && server !== undefined && sameServer.length === 0) {
    const reason = `No tool of server ${server} is known: it is not in the servers file of the executors, or has another name there.`;
    const description = `Put "${server}" back into the servers file of the executors and restart them; then`;
    return { reason, next: [rerun(facts.request, description)] };
  }
  const names = leftOut ? [] : sameServer.map((known) => known.name);
  const near = nearestName(tool, names);
  if (near === undefined) {
    const reason = leftOut
      ? `Server ${leftOut.server} lists ${name}, but it is left out because ${leftOut.reason}.`
      : `No server offers ${name} right now.`;
    const description = "Have the planner replan the rest with the current tools; completed steps are kept:";
    const next = plan.origin.kind === "model" ? [replan(facts.request, description)] : [];
    return { reason, next };
  }
  const paths = pathsOf(plan, tool);
  const description = `If ${near} is the same tool under another name, call it instead, with the same arguments; completed steps are kept:`;
  return {
    reason: `No server offers ${name} right now; the nearest name is ${near}.`,
    next:
      paths.length > 0 && paths.length <= MAX_STEPS
        ? [amendPart(facts.request, { paths, value: near }, description)]
        : [],
  };
}

/** The positions in the document that name the tool, as JSON Pointers. */
function pathsOf({ document }: PlanFact, tool: string): string[] {
  return (document?.steps ?? []).flatMap((step, index) =>
    toolOfStep(step) === tool ? [`/steps/${index}/${"forEach" in step ? "forEach/do/tool" : "tool"}`] : [],
  );
}
