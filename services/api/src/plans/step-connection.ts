import type { StepRun } from "@planwright/engine";
import type { StepStatus } from "@planwright/plan";
import {
  isStepWanted,
  type Page,
  type PlanGraph,
  type PlanHead,
  pageOfSteps,
  type StepFilter,
  stepCursor,
} from "@planwright/store";
import { type Connection, type PageArguments, parsePage, toConnection } from "../operation/connection.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { type GraphedPlan, type PastPlan, type ShownStep, stepViewsOfPage } from "./step-views.ts";

/** Arguments of the list. */
export interface StepPageArguments extends PageArguments {
  filter?: StepFilterArgument | null;
}

/** A filter as clients give it. */
export interface StepFilterArgument {
  status?: readonly StepStatus[] | null;
  stepId?: string | null;
  items?: boolean | null;
}

/** A page of steps; they are counted only if totalCount is selected. */
export interface StepConnection extends Connection<ShownStep> {
  totalCount(): Promise<number>;
}

/** One page of a plan's steps and items, in plan order. @throws {BadInputError | CursorInvalidError} */
export async function readStepPage(
  head: Omit<GraphedPlan, keyof PlanGraph> & Pick<PlanHead, "_id"> & { past?: PastPlan },
  asked: StepPageArguments,
  { reads, liveWorkers }: Pick<GraphqlContext, "reads" | "liveWorkers">,
): Promise<StepConnection> {
  const page = parsePage(asked, "steps");
  const plan: GraphedPlan = { ...head, ...((await reads.graph(head._id)) ?? { plan: null }) };
  const filter = toStepFilter(plan, asked.filter ?? {});
  if (head.past && filter) {
    const units = head.past.steps(plan).filter((step) => isStepWanted(step, filter));
    const found = pageOfSteps(units, { ...page, filter });
    return { ...toConnection(found, stepCursor), totalCount: async () => units.length };
  }
  const found: Page<StepRun> = filter
    ? await reads.stepPage(plan._id, { ...page, filter })
    : { items: [], cursor: null };
  const items = stepViewsOfPage(plan, found.items, await liveWorkers(), (stepId) =>
    reads.stepStatus(plan._id, stepId),
  );
  return {
    ...toConnection({ ...found, items }, stepCursor),
    totalCount: async () => (filter ? reads.stepCount(plan._id, filter) : 0),
  };
}

/** The filter of the store; undefined when no step can match. */
export function toStepFilter(
  { plan }: Pick<PlanGraph, "plan">,
  { status, stepId, items }: StepFilterArgument,
): StepFilter | undefined {
  const position = stepId ? plan?.steps.findIndex(({ id }) => id === stepId) : undefined;
  if (!plan || position === -1) return undefined;
  return {
    status: status && status.length > 0 ? [...new Set(status)] : undefined,
    position,
    items: items ?? undefined,
  };
}
