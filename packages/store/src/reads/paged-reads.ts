import type { PlanId, RequestId, StepStatus } from "@planwright/plan";
import type { EventHead, ModelCallHead, PlanHead, StepHead } from "../records/document-heads.ts";
import type { StepDocument } from "../records/step-document.ts";

/** A page of a list; `cursor` continues after its last item, null at the end. */
export interface Page<T> {
  items: T[];
  cursor: string | null;
}

/** A part of a list; its cursors fit that list alone. */
export interface ListPage {
  /** 1 to 100. */
  first: number;
  after?: string | undefined;
}

/** Which steps and items of a plan are wanted: those that fit everything that is given. */
export interface StepFilter {
  status?: readonly StepStatus[] | undefined;
  /** Place of a step in the plan, from 0: that step and its items. */
  position?: number | undefined;
  /** True: items of forEach steps alone; false: steps alone. */
  items?: boolean | undefined;
}

/** A part of the steps and items of a plan. */
export interface StepPage extends ListPage {
  filter?: StepFilter | undefined;
}

/**
 * Heads of what is listed under a request or a plan, in pages, the same page of many in one read. What is not
 * there, or another tenant's, has empty pages. A page may hold fewer than `first` although more follow: the
 * cursor tells, null at the end. Wherever a page is given, `CursorInvalidError` is thrown for a cursor that
 * was never given out for such a list.
 */
export interface PagedReads {
  /** Steps and items in plan order. */
  listStepPages(
    tenant: string,
    planIds: readonly PlanId[],
    page: StepPage,
  ): Promise<Map<PlanId, Page<StepHead>>>;
  /** How many steps and items fit. */
  countSteps(
    tenant: string,
    planIds: readonly PlanId[],
    filter: StepFilter,
  ): Promise<ReadonlyMap<PlanId, number>>;
  /** Where steps stand, in the order in which they are asked for; null for unknown ones. */
  listStepStatuses(
    tenant: string,
    steps: readonly Pick<StepDocument, "planId" | "stepId">[],
  ): Promise<(StepStatus | null)[]>;
  /** Versions of a request's plan, newest first. */
  listPlanPages(
    tenant: string,
    requestIds: readonly RequestId[],
    page: ListPage,
  ): Promise<Map<RequestId, Page<PlanHead>>>;
  /** Calls of chat models for a request, oldest first. */
  listModelCallPages(
    tenant: string,
    requestIds: readonly RequestId[],
    page: ListPage,
  ): Promise<Map<RequestId, Page<ModelCallHead>>>;
  /** What happened to a request, as its journal tells it: in its order. */
  listEventPages(
    tenant: string,
    requestIds: readonly RequestId[],
    page: ListPage,
  ): Promise<Map<RequestId, Page<EventHead>>>;
}
