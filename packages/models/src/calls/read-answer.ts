import type { Chat } from "../chat/chat.ts";
import type { PartialDraft } from "../draft/draft-error.ts";
import type { DraftResult } from "../draft/drafter.ts";
import { ModelError } from "../draft/model-error.ts";
import type { SentMessage } from "../draft/sent-message.ts";
import { endingOf } from "../providers/provider-words.ts";

/** Maximum length of an answer that is kept; a plan is at most 1 MiB. */
const MAX_ANSWER = 1_048_576;

/** A draft before the first byte of its answer. */
export const emptyDraft = (model: string, messages: SentMessage[]): DraftResult => ({
  text: "",
  usage: { inputTokens: null, outputTokens: null, cachedInputTokens: null },
  finishReason: null,
  latencyMs: 0,
  messages,
  model,
});

/**
 * Reads a stream to its end into `draft`, so that the text before a failure is not lost.
 * @param arrived - called with all the text so far, each time that more of it came
 * @throws {ModelError} with MODEL_REFUSED, MODEL_ANSWER_TRUNCATED or MODEL_CONTENT_FILTERED by the provider's
 * finish reason; with MODEL_UNREACHABLE for an answer that was cut; errors of the provider's library
 */
export async function readAnswer(
  chat: Chat,
  draft: DraftResult,
  options: Parameters<Chat["stream"]>[1],
  arrived?: (text: string) => void,
): Promise<void> {
  let refusal = "";
  let toolArguments = "";
  const calls = new Map<number, { name: string; arguments: string }>();
  for await (const chunk of chat.stream(draft.messages, options)) {
    toolArguments += chunk.toolArguments;
    for (const piece of options.tools ? (chunk.toolCalls ?? []) : []) {
      const call = calls.get(piece.index) ?? { name: "", arguments: "" };
      calls.set(piece.index, { name: call.name + piece.name, arguments: call.arguments + piece.arguments });
    }
    draft.text += chunk.text;
    if (chunk.text !== "" || chunk.toolArguments !== "") arrived?.(draft.text || toolArguments);
    refusal += chunk.refusal ?? "";
    draft.finishReason = chunk.finishReason ?? draft.finishReason;
    draft.usage = {
      inputTokens: sum(draft.usage.inputTokens, chunk.inputTokens),
      outputTokens: sum(draft.usage.outputTokens, chunk.outputTokens),
      cachedInputTokens: sum(draft.usage.cachedInputTokens ?? null, chunk.cachedInputTokens),
    };
    if (draft.text.length + toolArguments.length > MAX_ANSWER) {
      draft.finishReason = "length";
      break;
    }
  }
  // Some libraries end an aborted stream as if it were complete.
  options.signal.throwIfAborted();
  if (calls.size > 0) draft.toolCalls = [...calls.values()];
  if (draft.toolCalls) draft.text = JSON.stringify(draft.toolCalls);
  else if (toolArguments !== "") draft.text = toolArguments;
  if (refusal !== "") throw refused(refusal, draft);
  checkEnd(draft);
}

const sum = (before: number | null, more: number | undefined) =>
  more === undefined ? before : (before ?? 0) + more;

const refused = (refusal: string, draft: DraftResult) =>
  new ModelError(
    "MODEL_REFUSED",
    { model: modelOf(draft), refusal: refusal.slice(0, 500) },
    { partial: draft },
  );

const modelOf = ({ model }: DraftResult) => model ?? "the model";

/**
 * Checks the provider's finish reason before the text is used. Without a finish reason, an answer that is not
 * JSON was cut.
 */
function checkEnd(draft: DraftResult): void {
  const facts = { model: modelOf(draft) };
  const options: { partial: PartialDraft } = { partial: draft };
  if (draft.finishReason === null) {
    if (isJson(draft.text)) return;
    throw new ModelError(
      "MODEL_UNREACHABLE",
      { ...facts, status: null, retryAfterMs: null, isCut: true },
      options,
    );
  }
  const ending = endingOf(draft.finishReason);
  if (ending === "MODEL_REFUSED") throw refused(draft.text || "no reason given", draft);
  if (ending !== undefined) throw new ModelError(ending, facts, options);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
