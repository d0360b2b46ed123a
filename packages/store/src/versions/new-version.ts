import type { Diagnostic, Plan, ToolPin } from "@planwright/plan";
import type { PlanOrigin } from "../records/plan-origin.ts";

/** A plan as a planner stores it. */
export interface NewVersion {
  plan: Plan;
  /** Of the catalogue that the plan was checked against. Default: nothing is pinned. */
  toolPins?: ToolPin[] | undefined;
  /** Raw text of the answer. */
  raw: string | null;
  origin: PlanOrigin;
  diagnostics: Diagnostic[];
}
