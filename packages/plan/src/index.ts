export { type BarrierOrder, barrierOrder } from "./barrier-order.ts";
export { callTimeout, MAX_STEP_TIMEOUT_MS } from "./call-timeout.ts";
export { canonicalJson } from "./canonical-json.ts";
export { catalogueOfPlan, pinsByTool } from "./catalogue-of-plan.ts";
export { checkToolCalls, ToolCallsInvalidError } from "./check-tool-calls.ts";
export { CodedError } from "./coded-error.ts";
export { ConditionInvalidError } from "./condition/condition-error.ts";
export { type ConditionOptions, evaluateCondition } from "./condition/evaluate-condition.ts";
export {
  type BackoffStrategy,
  BackoffStrategySchema,
  type ContractDeclaration,
  ContractDeclarationSchema,
  type ContractSource,
  type EffectClass,
  effectClassOf,
  type ToolContract,
} from "./contract.ts";
export {
  contractJsonSchema,
  type EffectiveContract,
  hasSideEffects,
  type IgnoredDeclaration,
  knownContract,
  type ToolContractOptions,
  toolContract,
} from "./contract-of-tool.ts";
export { type ContractField, type ContractReport, contractReport } from "./contract-report.ts";
export { CREDENTIAL_FORMS, isSecretKey, REDACTED, SECRET_NAME } from "./credential.ts";
export { DIAGNOSTIC_CODES, type Diagnostic, type DiagnosticCode } from "./diagnostic.ts";
export { type PlanGraph, type PlanGraphOptions, planGraph } from "./graph.ts";
export { type Acyclic, breakCycles, openersOf, stuckPositions } from "./graph-edges.ts";
export {
  acyclicDependencies,
  criticalPath,
  executionOrder,
  longestRemainingPaths,
  type OrderOptions,
  type PlanToOrder,
  planWaves,
} from "./graph-order.ts";
export {
  createPlanId,
  createRequestId,
  OwnToolNameSchema,
  type PlanId,
  PlanIdSchema,
  type RandomBytes,
  type RequestId,
  RequestIdSchema,
  type StepId,
  StepIdSchema,
  type ToolName,
  ToolNameSchema,
} from "./ids.ts";
export { isJsonObject, type JsonObject, JsonObjectSchema, type JsonValue, JsonValueSchema } from "./json.ts";
export {
  canMove,
  type ExecutionState,
  type Need,
  needsPerson,
  statusesOf,
  statusesWhere,
} from "./lifecycle/lifecycle.ts";
export {
  type FinalPlanStatus,
  hasPlanFailed,
  hasPlanResults,
  isTerminalPlanStatus,
  isUnheldPlanStatus,
  PAUSABLE_PLAN_STATUSES,
  PLAN_LIFECYCLE,
  type PlanStatus,
  PlanStatusSchema,
  planNeed,
  STARTED_PLAN_STATUSES,
  toExecutionState,
  UNFINISHED_PLAN_STATUSES,
  UNHELD_PLAN_STATUSES,
  UNSTARTED_PLAN_STATUSES,
  WAITING_PLAN_STATUSES,
} from "./lifecycle/plan-lifecycle.ts";
export {
  executionStateOfRequest,
  FAILED_REQUEST_STATUSES,
  isRequestOver,
  OVER_REQUEST_STATUSES,
  REQUEST_LIFECYCLE,
  REQUEST_STATUSES_WITH_RESULTS,
  type RequestStatus,
  RequestStatusSchema,
  STARTED_REQUEST_STATUSES,
  UNEXECUTED_REQUEST_STATUSES,
  WORKED_REQUEST_STATUSES,
} from "./lifecycle/request-lifecycle.ts";
export {
  isCallableStep,
  isSettledStepStatus,
  isStepUnderWay,
  isTerminalStepStatus,
  STEP_LIFECYCLE,
  type StepStatus,
  StepStatusSchema,
  stepGoesOn,
  stepNeedsPerson,
  waitReasonOfStep,
} from "./lifecycle/step-lifecycle.ts";
export { type WaitReason, WaitReasonSchema } from "./lifecycle/wait-reason.ts";
export { type Limits, type LimitsInput, LimitsSchema } from "./limits.ts";
export type { OpenDraft } from "./model-answer/open-draft.ts";
export {
  type ModelAnswer,
  type ReadModelAnswerOptions,
  readModelAnswer,
} from "./model-answer/read-model-answer.ts";
export { type MomentReading, nowText, readingText, type SaidMoment } from "./moment/moment.ts";
export { canonicalLocale, isTimezone, type PlanningContext } from "./moment/planning-context.ts";
export { type SaidMoments, saidMoments } from "./moment/said-moments.ts";
export { bareName, findRelatedTool, findTool, nameTools, qualifiedName } from "./name-tools.ts";
export { leavesOpen } from "./observed-output/leaves-open.ts";
export { mergeShapes } from "./observed-output/merge-shapes.ts";
export { mergeObserved, observeOutput } from "./observed-output/observe-output.ts";
export { type OutputShape, type ShapeType, seenIn } from "./observed-output/output-shape.ts";
export { shapeOfOutput } from "./observed-output/shape-of-output.ts";
export { schemaOfShape } from "./observed-output/shape-schema.ts";
export { DependencyAbsentError, DependencyCycleError } from "./order-errors.ts";
export { type CallGroup, needsOrdering, orderToolCalls } from "./order-tool-calls.ts";
export { type OutputText, type OutputTexts, textOfOutput } from "./output-text.ts";
export {
  MAX_OUTPUT_PARTS,
  type Outputs,
  OutputsSchema,
  outputParts,
  outputSteps,
} from "./outputs/outputs-schema.ts";
export {
  addPart,
  type GrowingOutputs,
  noParts,
  type OutputLeftOut,
  type ResolvedOutputs,
  resolveOutputs,
} from "./outputs/resolve-outputs.ts";
export { type ParsePlanOptions, type ParsePlanResult, parsePlan } from "./parse-plan.ts";
export { type Plan, PlanSchema } from "./plan.ts";
export { type PlanningAdvice, planningAdvice } from "./planning-advice.ts";
export {
  type FailureMode,
  FailureModeSchema,
  type Policy,
  type PolicyInput,
  PolicySchema,
  type Profile,
  ProfileSchema,
  profileOptions,
  resolvePolicy,
} from "./policy.ts";
export { PolicyInvalidError } from "./policy-error.ts";
export { planJsonSchema, printPlan } from "./print-plan.ts";
export {
  type BoundAnswer,
  type BoundAnswers,
  bindTexts,
  bindValues,
  type UnfitAnswer,
} from "./questions/bind-answers.ts";
export { type DraftWithGaps, fillGaps, type GapValue } from "./questions/draft-with-gaps.ts";
export {
  type AskedParameter,
  MAX_QUESTIONS,
  type OpenQuestion,
  OpenQuestionSchema,
  QuestionIdSchema,
} from "./questions/open-question.ts";
export { checkAnswer, MAX_ANSWER_LENGTH, type ReadAnswer } from "./questions/read-answer.ts";
export { type Gap, toFreeQuestions, toQuestions } from "./questions/to-questions.ts";
export { readersOf } from "./readers-of.ts";
export { escapeText } from "./reference/escape-references.ts";
export { type PathSegment, printPlace, printReference } from "./reference/path.ts";
export type { ReferenceSpelling } from "./reference/read-reference.ts";
export {
  AmbiguousReferenceError,
  ForbiddenReferenceError,
  MissingFieldError,
  type ReferenceError,
  ResolvedTooLargeError,
  UnresolvedReferenceError,
} from "./reference/reference-errors.ts";
export { referencedSteps, stepsInValue } from "./reference/referenced-steps.ts";
export { type Resolved, type ResolveOptions, resolveReferences } from "./reference/resolve-references.ts";
export { type Reference, scanReferences } from "./reference/scan-references.ts";
export { type ForeignType, foreignTypesOf, isJsonType, type JsonType, jsonTypesOf } from "./schema-types.ts";
export { SecretNameSchema, type SecretPlace, secretNameOf, secretPlaces } from "./secret.ts";
export {
  argumentsOfStep,
  type CallStep,
  CallStepSchema,
  type Condition,
  ConditionSchema,
  type ForEach,
  type ForEachOutput,
  type ForEachResult,
  ForEachSchema,
  type ForEachStep,
  ForEachStepSchema,
  isForEachStep,
  type RetryPolicy,
  RetryPolicySchema,
  type Step,
  StepSchema,
  toolOfStep,
} from "./step.ts";
export {
  dependenciesOfCall,
  type InsertedCall,
  type OrderingPolicy,
  providedByCall,
  type ToolCall,
  toolOfCall,
} from "./tool-call.ts";
export type { ToolAnnotations, ToolDescriptor } from "./tool-descriptor.ts";
export { toolDigest } from "./tool-digest.ts";
export { createToolIndex, type ToolIndex, toolIndexOf } from "./tool-index.ts";
export {
  changesSince,
  findPinnedTool,
  fingerprintOf,
  isMaterialChange,
  pinTools,
  type ToolFingerprint,
  type ToolPart,
  type ToolPin,
} from "./tool-pin.ts";
export {
  outputOfToolResult,
  structureOfText,
  type ToolResultError,
  type ToolResultLimits,
  type ToolResultOutput,
} from "./tool-result.ts";
export { validatePlan } from "./validate-plan.ts";
export {
  type FittedArguments,
  type FittedPlace,
  fitTexts,
  fittedWarnings,
  resolveArguments,
} from "./validation/fit-texts.ts";
export { validateArguments } from "./validation/validate-arguments.ts";
