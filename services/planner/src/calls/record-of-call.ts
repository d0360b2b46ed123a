import { DraftError, type Drafter, type DraftResult } from "@planwright/models";
import { redactText } from "@planwright/runtime";
import type { ModelCallDocument, RecordedError, RequestDocument } from "@planwright/store";

type ModelCall = Omit<ModelCallDocument, "_id" | "createdAt">;

/** Most characters that are stored of one text; a MongoDB document holds at most 16 MiB. */
const MAX_KEPT = 1_048_576;

/** A text as it is stored for people: without secrets, and truncated if it is too long. */
export function keptText(text: string): string {
  return redactText(text).slice(0, MAX_KEPT);
}

/**
 * A text that is still arriving, as it is shown: without secrets, and without its last word, since only a
 * complete word can be recognised as a secret.
 */
export function partialText(text: string): string {
  return redactText(text.replace(/[^\s"'`,;]*$/, ""));
}

/** A call as it is stored: the messages and the answer, also of a failed call. */
export function recordOfCall(call: {
  request: Pick<RequestDocument, "_id" | "tenant" | "query">;
  drafter: Pick<Drafter, "name">;
  purpose: ModelCall["purpose"];
  result: DraftResult | DraftError;
}): ModelCall {
  const { request, result } = call;
  const draft = result instanceof DraftError ? (result.partial ?? {}) : result;
  const query = { role: "user", content: request.query ?? "" };
  const messages = draft.messages && draft.messages.length > 0 ? draft.messages : [query];
  return {
    requestId: request._id,
    tenant: request.tenant,
    purpose: call.purpose,
    model: call.drafter.name,
    messages: messages.map(({ role, content }) => ({ role, content: keptText(content) })),
    answer: keptText(draft.text ?? ""),
    finishReason: draft.finishReason ?? null,
    inputTokens: draft.usage?.inputTokens ?? null,
    outputTokens: draft.usage?.outputTokens ?? null,
    latencyMs: draft.latencyMs ?? 0,
    costUsd: null,
    error: result instanceof DraftError ? redactedError(result) : null,
  };
}

/**
 * An error that may be stored and shown: error texts of providers may contain keys and addresses with
 * passwords.
 */
export function redactedError({ code, message }: RecordedError): RecordedError {
  return { code, message: redactText(message) };
}
