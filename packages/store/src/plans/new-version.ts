import type { Diagnostic, Plan, ToolPin } from "@planwright/plan";
import type { PlanOrigin } from "../records/plan-origin.ts";

/** A new version of a plan, from a planner. */
export interface NewVersion {
  plan: Plan;
  /** From the catalogue that the plan was checked against. Default: nothing is pinned. */
  toolPins?: ToolPin[] | undefined;
  /** Raw text of the answer. */
  raw: string | null;
  origin: PlanOrigin;
  diagnostics: Diagnostic[];
}
