import type { StepStatus } from "@planwright/plan";

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
