export type { ModelAsk, ModelCaller } from "./calls/model-ask.ts";
export { createModelCaller } from "./calls/model-caller.ts";
export { awayForMs, modelPauseMs } from "./calls/retry-wait.ts";
export { isAnswered } from "./calls/with-recorded.ts";
export type { ModelPrice } from "./chat/model-price.ts";
export { createDrafter } from "./create-drafter.ts";
export { directTools } from "./direct/direct-tools.ts";
export type { AnswerInput } from "./draft/answer-input.ts";
export type { AnswerSchema, Asked } from "./draft/asked.ts";
export {
  BudgetExceededError,
  type BudgetFacts,
  type ModelLimitName,
  ModelUnpricedError,
} from "./draft/budget-errors.ts";
export type {
  CallEnd,
  CallMeter,
  CallToCome,
  OpenCall,
  RecordedAnswer,
} from "./draft/call-meter.ts";
export {
  DraftError,
  type DraftErrorCode,
  NoToolsError,
  type PartialDraft,
} from "./draft/draft-error.ts";
export type {
  ContractInput,
  Drafter,
  DraftInput,
  DraftResult,
  ProposedContracts,
  RepairRequest,
} from "./draft/drafter.ts";
export {
  BothModelsFailedError,
  isModelError,
  ModelError,
  type ModelErrorCode,
  type ModelFacts,
  type ModelFailureFacts,
} from "./draft/model-error.ts";
export type { ReplanRequest, ReplanStep } from "./draft/replan-request.ts";
export type { SentMessage } from "./draft/sent-message.ts";
export type { TokenUsage } from "./draft/token-usage.ts";
export { costUsd } from "./prices/cost-usd.ts";
export { createPriceList, type PriceList } from "./prices/price-list.ts";
export { PricesInvalidError } from "./prices/prices-invalid-error.ts";
export { answerMessages } from "./prompts/answer-messages.ts";
export { draftMessages } from "./prompts/draft-messages.ts";
export { estimateTokens } from "./prompts/estimate-tokens.ts";
export { MAX_PROMPT_TOKENS } from "./prompts/prompt-budget.ts";
export { definitionOf, PROVIDER_NAMES } from "./providers/registry.ts";
export {
  type RetrievalReason,
  type RetrievedTools,
  type RetrieveToolsInput,
  retrieveTools,
} from "./retrieval/retrieve-tools.ts";
export { toolsForPrompt } from "./retrieval/tools-for-prompt.ts";
export {
  type ModelSetting,
  type ModelSettings,
  type ModelSettingsInput,
  ModelSettingsSchema,
  type NamedModel,
  parseModelSetting,
} from "./settings/model-setting.ts";
export { ModelSettingError } from "./settings/model-setting-error.ts";
