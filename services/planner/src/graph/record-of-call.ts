import { DraftError, type Drafter, type DraftResult } from "@planwright/models";
import type { ModelCallDocument, RequestDocument } from "@planwright/store";

type ModelCall = Omit<ModelCallDocument, "_id" | "createdAt">;

/** Most characters that are kept of one text; a document holds at most 16 MiB. */
export const MAX_KEPT = 1_048_576;

/** A call as it is stored: what was sent and what came back, also when it failed. */
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
    messages: messages.map(({ role, content }) => ({ role, content: content.slice(0, MAX_KEPT) })),
    answer: (draft.text ?? "").slice(0, MAX_KEPT),
    finishReason: draft.finishReason ?? null,
    inputTokens: draft.usage?.inputTokens ?? null,
    outputTokens: draft.usage?.outputTokens ?? null,
    latencyMs: draft.latencyMs ?? 0,
    costUsd: null,
    error: result instanceof DraftError ? { code: result.code, message: result.message } : null,
  };
}
