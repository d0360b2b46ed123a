export { createDrafter } from "./create-drafter.ts";
export {
  DraftError,
  type DraftErrorCode,
  type MissingValue,
  type MissingValueQuestion,
  NoToolsError,
  NotUnderstoodError,
  type PartialDraft,
  ValueMissingError,
} from "./draft-error.ts";
export type { Drafter, DraftInput, DraftResult, RepairRequest, SentMessage, TokenUsage } from "./drafter.ts";
export {
  ModelAnswerTruncatedError,
  ModelAnswerUnreadableError,
  ModelContentFilteredError,
  type ModelFacts,
  ModelKeyMissingError,
  ModelNotFoundError,
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
  parseModelSetting,
} from "./model-setting.ts";
export { createOfflineDrafter, type OfflinePlan, planByRules } from "./offline/offline-drafter.ts";
export { draftMessages } from "./prompts/draft-messages.ts";
export { estimateTokens } from "./prompts/estimate-tokens.ts";
export {
  type RetrievalReason,
  type RetrievedTools,
  type RetrieveToolsInput,
  retrieveTools,
} from "./retrieval/retrieve-tools.ts";
export { MAX_PROMPT_TOKENS, toolsForPrompt } from "./retrieval/tools-for-prompt.ts";
