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
export { type ContractField, type ContractReport, contractReport } from "./contract/contract-report.ts";
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
  type IgnoredDeclaration,
  knownContract,
  type ToolContractOptions,
  toolContract,
} from "./contract/tool-contract.ts";
export {
  CodedError,
  DIAGNOSTIC_CODES,
  type Diagnostic,
  type DiagnosticCode,
  nearestName,
} from "./diagnostics/diagnostic.ts";
export { type PlanningAdvice, planningAdvice } from "./diagnostics/planning-advice.ts";
export {
  boundedText,
  countText,
  durationText,
  hasPlaceholder,
  ownTimeText,
  PLACEHOLDER,
  requestTitle,
  shareText,
} from "./diagnostics/wording.ts";
export { type ParsePlanOptions, type ParsePlanResult, parsePlan, validatePlan } from "./dialect/read-plan.ts";
export { withoutNulls } from "./dialect/rewrite-step.ts";
export { nameSteps } from "./dialect/step-ids.ts";
export {
  MAX_OUTPUT_PARTS,
  type Outputs,
  OutputsSchema,
  outputParts,
  outputSteps,
  type Plan,
  PlanSchema,
  planJsonSchema,
  printPlan,
} from "./document/plan.ts";
export {
  type AskedParameter,
  canonicalLocale,
  type GapValue,
  isTimezone,
  MAX_QUESTIONS,
  type OpenQuestion,
  OpenQuestionSchema,
  type PlanningContext,
  QuestionIdSchema,
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
  PolicyInvalidError,
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
export {
  argumentsOfStep,
  type CallStep,
  CallStepSchema,
  type Condition,
  ConditionSchema,
  conditionsOf,
  createPlanId,
  createRequestId,
  type ForEach,
  type ForEachOutput,
  type ForEachResult,
  ForEachSchema,
  type ForEachStep,
  ForEachStepSchema,
  isForEachStep,
  OwnToolNameSchema,
  type PlanId,
  PlanIdSchema,
  type RandomBytes,
  type RequestId,
  RequestIdSchema,
  type RetryPolicy,
  RetryPolicySchema,
  type Step,
  type StepId,
  StepIdSchema,
  StepSchema,
  type ToolName,
  ToolNameSchema,
  toolOfStep,
} from "./document/step.ts";
export { type BarrierOrder, barrierOrder } from "./graph/barrier-order.ts";
export { stuckPositions, topologicalOrder } from "./graph/edges.ts";
export { Heap, smallerFirst } from "./graph/heap.ts";
export { type PlanGraph, type PlanGraphOptions, planGraph, readersOf } from "./graph/plan-graph.ts";
export {
  type Acyclic,
  acyclicDependencies,
  breakCycles,
  DependencyAbsentError,
  DependencyCycleError,
  executionOrder,
  type OrderOptions,
  openersOf,
  type PlanToOrder,
  planWaves,
} from "./graph/plan-order.ts";
export { canonicalDigest, canonicalJson, sha256, sha256OfParts } from "./json/canonical-json.ts";
export { escapeHalves, findUnfit, unfitText } from "./json/copy-json.ts";
export {
  compareNumbers,
  digitsOf,
  type ExactNumber,
  exactAsText,
  exactNumberOf,
  type HeldJson,
  isExactNumber,
  isJsonNumber,
  isWholeNumber,
  JsonText,
  LARGE_JSON_BYTES,
  mapExact,
  markNumbers,
  parseExactJson,
  parseJson,
  stringifyExactJson,
  textOfOutsider,
  unmarkNumbers,
  valueOfHeld,
} from "./json/exact-json.ts";
export {
  depthOf,
  isJsonObject,
  type JsonObject,
  JsonObjectSchema,
  type JsonValue,
  JsonValueSchema,
} from "./json/json.ts";
export { groupBy, mapJson, type PathSegment, printPlace, printReference } from "./json/map-json.ts";
export {
  canMove,
  type ExecutionState,
  isForPerson,
  type Need,
  needsPerson,
  PRIORITIES,
  type Priority,
  PrioritySchema,
  placeInLine,
  statusesOf,
  statusesWhere,
  WAIT_REASONS,
  type WaitReason,
  WaitReasonSchema,
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
export { containsAsWords } from "./notation/step-names.ts";
export {
  type CallGroup,
  checkToolCalls,
  needsOrdering,
  orderToolCalls,
  ToolCallsInvalidError,
} from "./older-systems/order-tool-calls.ts";
export {
  type InsertedCall,
  type OrderingPolicy,
  type ReadToolCall,
  readToolCalls,
  type ToolCall,
} from "./older-systems/tool-call.ts";
export {
  ConditionInvalidError,
  type ConditionOptions,
  evaluateCondition,
} from "./reference/evaluate-condition.ts";
export {
  escapeText,
  type Reference,
  type ReferenceSpelling,
  scanReferences,
} from "./reference/read-reference.ts";
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
  resolveOutputs,
} from "./reference/resolve-outputs.ts";
export {
  AmbiguousReferenceError,
  ForbiddenReferenceError,
  MissingFieldError,
  type ReferenceError,
  type Resolved,
  ResolvedTooLargeError,
  type ResolveOptions,
  readAsList,
  resolveReferences,
  UnresolvedReferenceError,
} from "./reference/resolve-references.ts";
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
export { readDeclaredOutput, validateArguments } from "./schema/validate-arguments.ts";
export { mergeObserved, observeOutput, shapeOfOutput } from "./tools/observe-output.ts";
export {
  leavesOpen,
  mergeShapes,
  type OutputShape,
  type ShapeType,
  schemaOfShape,
  seenIn,
} from "./tools/output-shape.ts";
export {
  type LeftOutTool,
  readTool,
  type ToolAnnotations,
  type ToolDescriptor,
} from "./tools/tool-descriptor.ts";
export {
  bareName,
  createToolIndex,
  findLeftOut,
  findRelatedTool,
  findTool,
  nameTools,
  qualifiedName,
  type ToolIndex,
  toolIndexOf,
} from "./tools/tool-index.ts";
export {
  EFFECT_META,
  type OutputText,
  type OutputTexts,
  outputOfToolResult,
  saysNoEffect,
  structureOfText,
  type ToolResultError,
  type ToolResultLimits,
  type ToolResultOutput,
  textOfOutput,
} from "./tools/tool-result.ts";
