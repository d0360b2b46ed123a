export { ConditionInvalidError } from "./condition/condition-error.ts";
export { type ConditionOptions, evaluateCondition } from "./condition/evaluate-condition.ts";
export {
  type BackoffStrategy,
  BackoffStrategySchema,
  type ContractDeclaration,
  ContractDeclarationSchema,
  type ContractSource,
  contractJsonSchema,
  type EffectClass,
  effectClassOf,
  type ToolContract,
} from "./contract/contract.ts";
export { type IgnoredDeclaration } from "./contract/contract-decision.ts";
export { type ContractField, type ContractReport, contractReport } from "./contract/contract-report.ts";
export {
  type ContractProposal,
  PROPOSED_FIELDS,
  type SuggestedContract,
  type SuggestedField,
  suggestContracts,
  suggestedTools,
  suggestForServer,
  type ToolToSuggest,
} from "./contract/suggest-contracts.ts";
export {
  actsWhenRepeated,
  type EffectiveContract,
  hasSideEffects,
  knownContract,
  type ToolContractOptions,
  toolContract,
} from "./contract/tool-contract.ts";
export { CodedError } from "./diagnostics/coded-error.ts";
export { DIAGNOSTIC_CODES, type Diagnostic, type DiagnosticCode } from "./diagnostics/diagnostic.ts";
export { nearestName } from "./diagnostics/nearest-name.ts";
export { type PlanningAdvice, planningAdvice } from "./diagnostics/planning-advice.ts";
export { withoutNulls } from "./dialect/null-arguments.ts";
export { nameSteps } from "./dialect/step-ids.ts";
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
} from "./document/ids.ts";
export {
  type AskedParameter,
  type GapValue,
  MAX_QUESTIONS,
  type OpenQuestion,
  OpenQuestionSchema,
  QuestionIdSchema,
} from "./document/open-question.ts";
export {
  MAX_OUTPUT_PARTS,
  type Outputs,
  OutputsSchema,
  outputParts,
  outputSteps,
} from "./document/outputs-schema.ts";
export { type Plan, PlanSchema } from "./document/plan.ts";
export { canonicalLocale, isTimezone, type PlanningContext } from "./document/planning-context.ts";
export { planJsonSchema, printPlan } from "./document/print-plan.ts";
export {
  argumentsOfStep,
  type CallStep,
  CallStepSchema,
  type Condition,
  ConditionSchema,
  conditionsOf,
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
} from "./document/step.ts";
export { type BarrierOrder, barrierOrder } from "./graph/barrier-order.ts";
export { type Acyclic, breakCycles, openersOf } from "./graph/break-cycles.ts";
export { stuckPositions, topologicalOrder } from "./graph/edges.ts";
export { Heap, smallerFirst } from "./graph/heap.ts";
export { DependencyAbsentError, DependencyCycleError } from "./graph/order-errors.ts";
export { type PlanGraph, type PlanGraphOptions, planGraph } from "./graph/plan-graph.ts";
export {
  acyclicDependencies,
  executionOrder,
  type OrderOptions,
  type PlanToOrder,
  planWaves,
} from "./graph/plan-order.ts";
export { readersOf } from "./graph/readers-of.ts";
export { canonicalJson } from "./json/canonical-json.ts";
export { escapeHalves, findUnfit, unfitText } from "./json/copy-json.ts";
export { canonicalDigest, sha256, sha256OfParts } from "./json/digest.ts";
export {
  compareNumbers,
  digitsOf,
  type ExactNumber,
  exactAsText,
  exactNumberOf,
  isExactNumber,
  isJsonNumber,
  isWholeNumber,
  mapExact,
  markNumbers,
  parseExactJson,
  stringifyExactJson,
  textOfOutsider,
  unmarkNumbers,
} from "./json/exact-json.ts";
export { groupBy } from "./json/group-by.ts";
export {
  depthOf,
  isJsonObject,
  type JsonObject,
  JsonObjectSchema,
  type JsonValue,
  JsonValueSchema,
} from "./json/json.ts";
export { type HeldJson, JsonText, LARGE_JSON_BYTES, valueOfHeld } from "./json/json-text.ts";
export { mapJson } from "./json/map-json.ts";
export { parseJson } from "./json/parse-json.ts";
export { type PathSegment, printPlace, printReference } from "./json/path.ts";
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
export { PRIORITIES, type Priority, PrioritySchema, placeInLine } from "./lifecycle/priority.ts";
export {
  ACTIVE_REQUEST_STATUSES,
  CANCELLABLE_REQUEST_STATUSES,
  ENDED_REQUEST_STATUSES,
  executionStateOfRequest,
  FAILED_REQUEST_STATUSES,
  hasRequestEnded,
  REQUEST_LIFECYCLE,
  REQUEST_STATUSES_WITH_RESULTS,
  type RequestStatus,
  RequestStatusSchema,
  STARTED_REQUEST_STATUSES,
  UNEXECUTED_REQUEST_STATUSES,
} from "./lifecycle/request-lifecycle.ts";
export {
  effectWords,
  lookOf,
  STATE_LOOKS,
  type StateLook,
  type StateTone,
  stateLook,
  WAIT_WORDS,
  waitWords,
} from "./lifecycle/state-words.ts";
export {
  doesStepContinue,
  isCallableStep,
  isSettledStepStatus,
  isStepActive,
  isTerminalStepStatus,
  STEP_LIFECYCLE,
  type StepStatus,
  StepStatusSchema,
  stepNeedsPerson,
  waitReasonOfStep,
} from "./lifecycle/step-lifecycle.ts";
export { isForPerson, WAIT_REASONS, type WaitReason, WaitReasonSchema } from "./lifecycle/wait-reason.ts";
export { containsAsWords } from "./notation/word-boundary.ts";
export { leavesOpen } from "./observed-output/leaves-open.ts";
export { mergeShapes } from "./observed-output/merge-shapes.ts";
export { mergeObserved, observeOutput } from "./observed-output/observe-output.ts";
export { type OutputShape, type ShapeType, seenIn } from "./observed-output/output-shape.ts";
export { shapeOfOutput } from "./observed-output/shape-of-output.ts";
export { schemaOfShape } from "./observed-output/shape-schema.ts";
export { checkToolCalls, ToolCallsInvalidError } from "./older-systems/check-tool-calls.ts";
export { type CallGroup, needsOrdering, orderToolCalls } from "./older-systems/order-tool-calls.ts";
export {
  type InsertedCall,
  type OrderingPolicy,
  type ReadToolCall,
  readToolCalls,
  type ToolCall,
} from "./older-systems/tool-call.ts";
export { catalogueOfPlan, pinsByTool } from "./pins/catalogue-of-plan.ts";
export {
  changesSince,
  findPinnedTool,
  fingerprintOf,
  isMaterialChange,
  pinTools,
  type ToolFingerprint,
  type ToolPart,
  type ToolPin,
} from "./pins/pin-tools.ts";
export { toolDigest } from "./pins/tool-digest.ts";
export { callTimeout, MAX_STEP_TIMEOUT_MS } from "./policy/call-timeout.ts";
export { type Limits, type LimitsInput, LimitsSchema } from "./policy/limits.ts";
export {
  approvalTimeoutOf,
  type FailureMode,
  FailureModeSchema,
  type Policy,
  type PolicyInput,
  PolicySchema,
  type Profile,
  ProfileSchema,
  profileOptions,
  resolvePolicy,
} from "./policy/policy.ts";
export { PolicyInvalidError } from "./policy/policy-error.ts";
export { type ParsePlanOptions, type ParsePlanResult, parsePlan } from "./reading/parse-plan.ts";
export { validatePlan } from "./reading/validate-plan.ts";
export { escapeText } from "./reference/escape-references.ts";
export { readAsList } from "./reference/follow-path.ts";
export { type ReferenceSpelling } from "./reference/read-reference.ts";
export {
  AmbiguousReferenceError,
  ForbiddenReferenceError,
  MissingFieldError,
  type ReferenceError,
  ResolvedTooLargeError,
  UnresolvedReferenceError,
} from "./reference/reference-errors.ts";
export {
  callOfStep,
  referencedSteps,
  referencesInArguments,
  stepsInStatus,
  stepsInValue,
} from "./reference/referenced-steps.ts";
export { hasRequiredField } from "./reference/required-fields.ts";
export {
  addPart,
  emptyOutputs,
  type GrowingOutputs,
  type OmittedOutput,
  type ResolvedOutputs,
  resolveOutputs,
} from "./reference/resolve-outputs.ts";
export { type Resolved, type ResolveOptions, resolveReferences } from "./reference/resolve-references.ts";
export { type Reference, scanReferences } from "./reference/scan-references.ts";
export { readDeclaredOutput } from "./schema/declared-output.ts";
export {
  type FittedArguments,
  type FittedPlace,
  fitTexts,
  fittedWarnings,
  resolveArguments,
} from "./schema/fit-texts.ts";
export {
  type ForeignType,
  foreignTypesOf,
  isJsonType,
  type JsonType,
  jsonTypesOf,
  type ListedSchemas,
  readListedSchemas,
  withMeantValues,
} from "./schema/schema-types.ts";
export { validateArguments } from "./schema/validate-arguments.ts";
export { CREDENTIAL_FORMS, isSecretKey, REDACTED, SECRET_NAME } from "./secrets/credential.ts";
export { SecretNameSchema, type SecretPlace, secretNameOf, secretPlaces } from "./secrets/secret.ts";
export {
  bareName,
  findLeftOut,
  findRelatedTool,
  findTool,
  nameTools,
  qualifiedName,
} from "./tools/name-tools.ts";
export { type OutputText, type OutputTexts, textOfOutput } from "./tools/output-text.ts";
export {
  type LeftOutTool,
  readTool,
  type ToolAnnotations,
  type ToolDescriptor,
} from "./tools/tool-descriptor.ts";
export { createToolIndex, type ToolIndex, toolIndexOf } from "./tools/tool-index.ts";
export {
  EFFECT_META,
  outputOfToolResult,
  saysNoEffect,
  structureOfText,
  type ToolResultError,
  type ToolResultLimits,
  type ToolResultOutput,
} from "./tools/tool-result.ts";
export { boundedText, countText, durationText, ownTimeText, shareText } from "./wording/amounts.ts";
export { hasPlaceholder, PLACEHOLDER } from "./wording/placeholder.ts";
export { requestTitle } from "./wording/request-title.ts";
