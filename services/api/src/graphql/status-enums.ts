import { PlanStatusSchema, RequestStatusSchema, StepStatusSchema } from "@planwright/plan";
import type { PlanStatus, RequestStatus, StepStatus } from "./schema-types.ts";

/** The values of the enums of statuses: those of the tables. A status that the schema lacks does not compile here. */
export const statusEnums = {
  RequestStatus: valuesOf<RequestStatus>(RequestStatusSchema.options),
  PlanStatus: valuesOf<PlanStatus>(PlanStatusSchema.options),
  StepStatus: valuesOf<StepStatus>(StepStatusSchema.options),
};

function valuesOf<Status extends string>(statuses: readonly Status[]): Record<string, Status> {
  return Object.fromEntries(statuses.map((status) => [status, status]));
}
