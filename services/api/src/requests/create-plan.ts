import type { RequestDocument } from "@planwright/store";
import type { OperationParts } from "../parts.ts";
import { toIdempotency } from "./idempotency.ts";
import { type FollowUpInput, parseFollowUp } from "./parse-follow-up.ts";
import { parseQuery } from "./parse-query.ts";
import { parseTags } from "./parse-tags.ts";

/** A sentence, and what is wanted once its plan is over. */
export interface SentenceInput extends FollowUpInput {
  query: string;
  execute: boolean;
  /** Words by which the request is found again, 10 at most. Default: none. */
  tags?: readonly string[] | null;
  idempotencyKey?: string | null;
}

/**
 * Accepts a sentence: durable when it returns, planned behind it. With a key that was used for the same sentence, the
 * request of that time.
 * @throws {BadInputError | IdempotencyKeyReusedError}
 */
export async function createPlan(
  { store, offers, tenant, modelLimits: service, operation }: OperationParts,
  input: SentenceInput,
): Promise<RequestDocument> {
  const query = parseQuery(input.query);
  const tags = parseTags(input.tags);
  const { execute } = input;
  const followUp = parseFollowUp(input, service);
  const tagged = tags.length > 0 ? [{ tags }] : [];
  const payload = ["createPlan", query, execute, ...followUp.payload, ...tagged];
  const idempotency = toIdempotency(input.idempotencyKey, payload);
  const request = await store.createRequest({
    tenant,
    query,
    tags,
    autoExecute: execute,
    ...followUp.wish,
    trace: operation?.origin,
    idempotency,
  });
  operation?.about(request._id, request.trace);
  if (request.status === "PLANNING") offers.offerPlanning(request._id);
  return request;
}
