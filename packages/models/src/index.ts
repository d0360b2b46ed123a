export { isAnswered } from "./calls/model-caller.ts";
export {
  type ModelSetting,
  ModelSettingError,
  type ModelSettings,
  type ModelSettingsInput,
  ModelSettingsSchema,
  type NamedModel,
  parseModelSetting,
} from "./calls/model-setting.ts";
export { costUsd, createPriceList, type PriceList, PricesInvalidError } from "./calls/price-list.ts";
export { awayForMs, modelPauseMs } from "./calls/to-model-error.ts";
export { createDrafter } from "./create-drafter.ts";
export { directTools } from "./direct-calls.ts";
export {
  BothModelsFailedError,
  BudgetExceededError,
  type BudgetFacts,
  DraftError,
  type DraftErrorCode,
  isModelError,
  ModelError,
  type ModelErrorCode,
  type ModelFacts,
  type ModelFailureFacts,
  type ModelLimitName,
  ModelUnpricedError,
  NoToolsError,
  type PartialDraft,
} from "./draft/draft-error.ts";
export type {
  AnswerInput,
  AnswerSchema,
  Asked,
  CallEnd,
  CallMeter,
  CallToCome,
  ContractInput,
  Drafter,
  DraftInput,
  DraftResult,
  OpenCall,
  ProposedContracts,
  RecordedAnswer,
  RepairRequest,
  ReplanRequest,
  ReplanStep,
  SentMessage,
  TokenUsage,
} from "./draft/drafter.ts";
export { answerMessages } from "./prompts/answer-messages.ts";
export { draftMessages } from "./prompts/draft-messages.ts";
export { estimateTokens, MAX_PROMPT_TOKENS } from "./prompts/prompt-budget.ts";
export {
  type RetrievalReason,
  type RetrievedTools,
  type RetrieveToolsInput,
  retrieveTools,
  toolsForPrompt,
} from "./prompts/retrieve-tools.ts";
export type { ModelPrice } from "./providers/chat.ts";
export { definitionOf, PROVIDER_NAMES } from "./providers/registry.ts";
