import type { StepRun } from "@planwright/engine";
import type { PlanId, RequestId, StepStatus } from "@planwright/plan";
import type { EventHead, ModelCallHead, PlanHead } from "../records/document-heads.ts";

/** A page of a list; `cursor` continues after its last item, null at the end. */
export interface Page<T> {
  items: T[];
  cursor: string | null;
}

/** A page of a list. A cursor is valid only for its list. */
export interface ListPage {
  /** 1 to 100. */
  first: number;
  after?: string | undefined;
}

/** A filter of steps and items of a plan. All given fields have to match. */
export interface StepFilter {
  status?: readonly StepStatus[] | undefined;
  /** Position of a step in the plan, from 0: selects the step and its items. */
  position?: number | undefined;
  /** True: only items of forEach steps; false: only steps. */
  items?: boolean | undefined;
}

/** A page of the steps and items of a plan. */
export interface StepPage extends ListPage {
  filter?: StepFilter | undefined;
}

/** The units of a plan that a diagnosis may name. */
export interface DiagnosedUnits<Unit> {
  /** In plan order: all steps, up to 1,000 items that failed or are open, and some of the others. */
  units: Unit[];
  /** Numbers of all items by their status, for each list. */
  itemCounts: Map<string, { [status in StepStatus]?: number }>;
}

/**
 * Pages of heads of the records of a request or a plan. The same page of many requests or plans is one read.
 * An unknown id, or one of another tenant, has empty pages. A page may have fewer items than `first` although
 * more follow: `cursor` is null only at the end. `CursorInvalidError` is thrown for a cursor that is not of
 * this kind of list.
 */
export interface PagedReads {
  /** Steps and items in plan order. */
  listStepPages(
    tenant: string,
    planIds: readonly PlanId[],
    page: StepPage,
  ): Promise<Map<PlanId, Page<StepRun>>>;
  /** The units that a diagnosis may name; none of an unknown plan. */
  listDiagnosedUnits(tenant: string, planId: PlanId): Promise<DiagnosedUnits<StepRun>>;
  /** How long a plan waited only for people until `at`, or its end, in milliseconds; 0 for an unknown plan. */
  waitedForPeopleMs(tenant: string, planId: PlanId, at: Date): Promise<number>;
  /** Number of steps and items that match. */
  countSteps(
    tenant: string,
    planIds: readonly PlanId[],
    filter: StepFilter,
  ): Promise<ReadonlyMap<PlanId, number>>;
  /** Statuses of steps, in the order of the argument; null for unknown ones. */
  listStepStatuses(
    tenant: string,
    steps: readonly Pick<StepRun, "planId" | "stepId">[],
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
  /** Events of a request's journal, in its order. */
  listEventPages(
    tenant: string,
    requestIds: readonly RequestId[],
    page: ListPage,
  ): Promise<Map<RequestId, Page<EventHead>>>;
}
