import type { Chat } from "./chat.ts";
import type { PartialDraft } from "./draft-error.ts";
import { NoToolsError } from "./draft-error.ts";
import type { Drafter, DraftInput, DraftResult, SentMessage } from "./drafter.ts";
import { ModelAnswerTruncatedError, ModelContentFilteredError, ModelRefusedError } from "./model-errors.ts";
import type { ModelSetting, ModelSettings } from "./model-setting.ts";
import { keyOf, openChat } from "./open-chat.ts";
import { draftMessages } from "./prompts/draft-messages.ts";
import { isStructuredOutputRefused, toModelError } from "./to-model-error.ts";

/** Longest answer that is kept; a plan is at most 1 MiB. */
const MAX_ANSWER = 1_048_576;

/** Drafts with a chat model through LangChain. @throws {ModelKeyMissingError} */
export function createModelDrafter(
  setting: Extract<ModelSetting, { kind: "model" }>,
  settings: ModelSettings,
): Drafter {
  keyOf(setting, settings);
  let opened: Promise<Chat> | null = null;
  let takesSchema = true;
  const facts = { model: setting.name };

  const ask = async (input: DraftInput): Promise<DraftResult> => {
    opened ??= openChat(setting, settings);
    const chat = await opened;
    const messages = draftMessages(input);
    const isStructured = takesSchema && chat.hasStructuredOutput;
    const limit = AbortSignal.timeout(settings.MODEL_TIMEOUT_MS);
    const partial = emptyDraft(messages);
    const startedAt = performance.now();
    try {
      const refusal = await readAnswer(chat, partial, {
        signal: AbortSignal.any([input.signal, limit]),
        isStructured,
      });
      partial.latencyMs = Math.round(performance.now() - startedAt);
      if (refusal !== "")
        throw new ModelRefusedError({ ...facts, refusal: refusal.slice(0, 500) }, { partial });
      return checked(partial, facts);
    } catch (error) {
      partial.latencyMs = Math.round(performance.now() - startedAt);
      if (isStructured && isStructuredOutputRefused(error)) {
        takesSchema = false;
        return ask(input);
      }
      input.signal.throwIfAborted();
      throw toModelError(error, {
        ...facts,
        timeoutMs: settings.MODEL_TIMEOUT_MS,
        isOverdue: limit.aborted,
        partial,
      });
    }
  };

  return {
    name: setting.name,
    kind: "model",
    draft: async (input) => {
      if (input.tools.length === 0) throw new NoToolsError();
      return ask(input);
    },
  };
}

const emptyDraft = (messages: SentMessage[]): DraftResult => ({
  text: "",
  usage: { inputTokens: null, outputTokens: null },
  finishReason: null,
  latencyMs: 0,
  messages,
});

/** Reads the stream into `draft`, so that what came before a failure is not lost. Returns the model's refusal, or "". */
async function readAnswer(
  chat: Chat,
  draft: DraftResult,
  options: { signal: AbortSignal; isStructured: boolean },
): Promise<string> {
  let refusal = "";
  for await (const chunk of chat.stream(draft.messages, options)) {
    draft.text += chunk.text;
    refusal += chunk.refusal ?? "";
    draft.finishReason = chunk.finishReason ?? draft.finishReason;
    draft.usage = {
      inputTokens: sum(draft.usage.inputTokens, chunk.inputTokens),
      outputTokens: sum(draft.usage.outputTokens, chunk.outputTokens),
    };
    if (draft.text.length > MAX_ANSWER) {
      draft.finishReason = "length";
      break;
    }
  }
  return refusal;
}

const sum = (before: number | null, more: number | undefined) =>
  more === undefined ? before : (before ?? 0) + more;

/** The provider's own word on how the answer ended decides, before anybody reads the text. */
function checked(draft: DraftResult, facts: { model: string }): DraftResult {
  const options: { partial: PartialDraft } = { partial: draft };
  switch (draft.finishReason) {
    case "length":
    case "max_tokens":
    case "model_context_window_exceeded":
      throw new ModelAnswerTruncatedError(facts, options);
    case "content_filter":
      throw new ModelContentFilteredError(facts, options);
    case "refusal":
      throw new ModelRefusedError(
        { ...facts, refusal: draft.text.slice(0, 500) || "no reason given" },
        options,
      );
    default:
      return draft;
  }
}
