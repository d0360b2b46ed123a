export type { AnswerInput } from "./answer-input.ts";
export {
  BudgetExceededError,
  type BudgetFacts,
  type ModelLimitName,
  ModelUnpricedError,
} from "./calls/budget-errors.ts";
export type {
  Asked,
  CallEnd,
  CallMeter,
  CallToCome,
  OpenCall,
  RecordedAnswer,
} from "./calls/call-meter.ts";
export type { ModelAsk, ModelCaller } from "./calls/model-ask.ts";
export { createModelCaller } from "./calls/model-caller.ts";
export { isAnswered } from "./calls/with-recorded.ts";
export type { AnswerSchema } from "./chat.ts";
export { createDrafter } from "./create-drafter.ts";
export { directTools } from "./direct/direct-tools.ts";
export {
  DraftError,
  type DraftErrorCode,
  NoToolsError,
  type PartialDraft,
} from "./draft-error.ts";
export type { Drafter, DraftInput, DraftResult, RepairRequest } from "./drafter.ts";
export {
  BothModelsFailedError,
  ModelAnswerTruncatedError,
  ModelAnswerUnreadableError,
  ModelContentFilteredError,
  type ModelFacts,
  ModelKeyMissingError,
  ModelNotFoundError,
  ModelQuotaExhaustedError,
  ModelRateLimitedError,
  ModelRefusedError,
  ModelRequestInvalidError,
  ModelSettingError,
  ModelTimeoutError,
  ModelUnauthorizedError,
  ModelUnreachableError,
} from "./model-errors.ts";
export {
  type ModelSetting,
  type ModelSettings,
  type ModelSettingsInput,
  ModelSettingsSchema,
  type NamedModel,
  parseModelSetting,
} from "./model-setting.ts";
export { costUsd, type ModelPrice } from "./prices/model-price.ts";
export { createPriceList, type PriceList } from "./prices/price-list.ts";
export { PricesInvalidError } from "./prices/prices-invalid-error.ts";
export { answerMessages } from "./prompts/answer-messages.ts";
export { draftMessages } from "./prompts/draft-messages.ts";
export { estimateTokens } from "./prompts/estimate-tokens.ts";
export { MAX_PROMPT_TOKENS } from "./prompts/prompt-budget.ts";
export type { ReplanRequest, ReplanStep } from "./replan-request.ts";
export {
  type RetrievalReason,
  type RetrievedTools,
  type RetrieveToolsInput,
  retrieveTools,
} from "./retrieval/retrieve-tools.ts";
export { toolsForPrompt } from "./retrieval/tools-for-prompt.ts";
export type { SentMessage } from "./sent-message.ts";
export type { TokenUsage } from "./token-usage.ts";
