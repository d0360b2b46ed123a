export { createOfflineDrafter, type OfflinePlan, planByRules } from "./offline-drafter.ts";
export {
  type MissingValue,
  ModelRequiredError,
  NotUnderstoodError,
  ValueMissingError,
} from "./offline-errors.ts";
