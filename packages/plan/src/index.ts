export {
  type BackoffStrategy,
  type ContractDeclaration,
  ContractDeclarationSchema,
  type ContractSource,
  contractJsonSchema,
  type EffectClass,
  effectClassOf,
  type ToolContract,
} from "./contract/contract.ts";
export { type ContractReport, contractReport } from "./contract/contract-report.ts";
export {
  catalogueOfPlan,
  changesSince,
  findPinnedTool,
  fingerprintOf,
  isMaterialChange,
  pinsByTool,
  pinTools,
  type ToolFingerprint,
  type ToolPart,
  type ToolPin,
  toolDigest,
} from "./contract/pin-tools.ts";
export {
  type ContractProposal,
  PROPOSED_FIELDS,
  type SuggestedContract,
  suggestedTools,
  suggestForServer,
} from "./contract/suggest-contracts.ts";
export {
  actsWhenRepeated,
  hasSideEffects,
  knownContract,
  type ToolContractOptions,
  toolContract,
} from "./contract/tool-contract.ts";
export {
  type CallGroup,
  checkToolCalls,
  type InsertedCall,
  needsOrdering,
  type OrderingPolicy,
  orderToolCalls,
  type ReadToolCall,
  readToolCalls,
  type ToolCall,
  ToolCallsInvalidError,
} from "./dialect/order-tool-calls.ts";
export { type ParsePlanOptions, parsePlan, validatePlan } from "./dialect/read-plan.ts";
export { withoutNulls } from "./dialect/rewrite-step.ts";
export { nameSteps } from "./dialect/step-ids.ts";
export { containsAsWords } from "./dialect/step-names.ts";
export {
  CodedError,
  DIAGNOSTIC_CODES,
  type Diagnostic,
  type DiagnosticCode,
  nearestName,
} from "./document/diagnostic.ts";
export {
  argumentsOfStep,
  CallStepSchema,
  type Condition,
  conditionsOf,
  createPlanId,
  createRequestId,
  type ForEach,
  type ForEachResult,
  ForEachSchema,
  type ForEachStep,
  isForEachStep,
  OwnToolNameSchema,
  outputParts,
  outputSteps,
  type Plan,
  type PlanId,
  PlanIdSchema,
  PlanSchema,
  planJsonSchema,
  printPlan,
  type RandomBytes,
  type RequestId,
  RequestIdSchema,
  type Step,
  StepIdSchema,
  ToolNameSchema,
  toolOfStep,
} from "./document/plan.ts";
export {
  boundedText,
  countText,
  durationText,
  hasPlaceholder,
  ownTimeText,
  PLACEHOLDER,
  type PlanningAdvice,
  planningAdvice,
  requestTitle,
  shareText,
  sizeText,
} from "./document/planning-advice.ts";
export {
  type AskedParameter,
  canonicalLocale,
  type GapValue,
  isTimezone,
  MAX_QUESTIONS,
  type OpenQuestion,
  type PlanningContext,
} from "./document/planning-context.ts";
export {
  approvalTimeoutOf,
  callTimeout,
  type FailureMode,
  FailureModeSchema,
  type Limits,
  type LimitsInput,
  LimitsSchema,
  MAX_STEP_TIMEOUT_MS,
  type Policy,
  type PolicyInput,
  PolicySchema,
  type Profile,
  ProfileSchema,
  profileOptions,
  resolvePolicy,
} from "./document/policy.ts";
export {
  CREDENTIAL_FORMS,
  isSecretKey,
  REDACTED,
  SECRET_NAME,
  SecretNameSchema,
  type SecretPlace,
  secretNameOf,
  secretPlaces,
} from "./document/secret.ts";
export { Heap, stuckPositions, topologicalOrder } from "./graph/edges.ts";
export { type PlanGraph, planGraph, readersOf } from "./graph/plan-graph.ts";
export {
  acyclicDependencies,
  barrierOrder,
  breakCycles,
  DependencyCycleError,
  openersOf,
  planWaves,
} from "./graph/plan-order.ts";
export { escapeHalves, findUnfit, unfitText } from "./json/copy-json.ts";
export {
  canonicalDigest,
  canonicalJson,
  compareNumbers,
  digitsOf,
  type ExactNumber,
  exactAsText,
  exactNumberOf,
  type HeldJson,
  heldOfSent,
  isExactNumber,
  isJsonNumber,
  isWholeNumber,
  JsonText,
  LARGE_JSON_BYTES,
  mapExact,
  markNumbers,
  parseExactJson,
  parseJson,
  type SentJson,
  sha256,
  sha256OfParts,
  sharedUtf8,
  stringifyExactJson,
  textOfContent,
  textOfOutsider,
  toSentJson,
  unmarkNumbers,
  valueOfHeld,
} from "./json/exact-json.ts";
export {
  depthOf,
  groupBy,
  isJsonObject,
  type JsonObject,
  JsonObjectSchema,
  type JsonValue,
  JsonValueSchema,
  mapJson,
  type PathSegment,
  printPlace,
  printReference,
} from "./json/json.ts";
export { visibleText } from "./json/visible-text.ts";
export {
  canMove,
  type ExecutionState,
  isForPerson,
  needsPerson,
  PRIORITIES,
  type Priority,
  placeInLine,
  statusesWhere,
  WAIT_REASONS,
  type WaitReason,
  WaitReasonSchema,
} from "./lifecycle/lifecycle.ts";
export { isToApprove, isToSettle, stepsInDoubt, stepsToApprove } from "./lifecycle/open-decisions.ts";
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
  isCarried,
  isSettledStepStatus,
  isStepActive,
  isTerminalStepStatus,
  type MaybeCarried,
  STEP_LIFECYCLE,
  type StepStatus,
  StepStatusSchema,
  stepNeedsPerson,
  waitReasonOfStep,
} from "./lifecycle/step-lifecycle.ts";
export { evaluateCondition } from "./reference/condition.ts";
export { escapeText, type Reference, scanReferences } from "./reference/read-reference.ts";
export {
  callOfStep,
  hasRequiredField,
  referencedSteps,
  referencesInArguments,
  stepsInStatus,
  stepsInValue,
} from "./reference/referenced-steps.ts";
export {
  addPart,
  emptyOutputs,
  type GrowingOutputs,
  type OmittedOutput,
  type ResolvedOutputs,
  readAsList,
  resolveOutputs,
  resolveReferences,
} from "./reference/resolve-references.ts";
export { fitTexts, fittedWarnings, resolveArguments } from "./schema/fit-texts.ts";
export {
  foreignTypesOf,
  isJsonType,
  jsonTypesOf,
  readListedSchemas,
  withMeantValues,
} from "./schema/schema-types.ts";
export { readDeclaredOutput, validateArguments } from "./schema/validate-arguments.ts";
export {
  leavesOpen,
  mergeObserved,
  mergeShapes,
  type OutputShape,
  observeOutput,
  schemaOfShape,
  seenIn,
  shapeOfOutput,
} from "./tools/observe-output.ts";
export {
  bareName,
  createToolIndex,
  findLeftOut,
  findRelatedTool,
  findTool,
  type LeftOutTool,
  nameTools,
  qualifiedName,
  readTool,
  type ToolAnnotations,
  type ToolDescriptor,
  type ToolIndex,
  toolIndexOf,
} from "./tools/tool-descriptor.ts";
export { type OutputText, type OutputTexts, outputOfToolResult, saysNoEffect } from "./tools/tool-result.ts";
