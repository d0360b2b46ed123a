import type { RequestDocument } from "@planwright/store";
import type { OperationParts } from "../parts.ts";
import { toIdempotency } from "./idempotency.ts";
import { parseMaxReplans } from "./parse-max-replans.ts";
import { type LimitsInput, parseModelLimits } from "./parse-model-limits.ts";
import { parseQuery } from "./parse-query.ts";
import { parseTags } from "./parse-tags.ts";

/** A sentence, and what is wanted once its plan is over. */
export interface SentenceInput {
  query: string;
  execute: boolean;
  /** Words by which the request is found again, 10 at most. Default: none. */
  tags?: readonly string[] | null;
  /** Replans that may follow failures without being asked for, 0 to 5. Default 0. */
  maxReplans?: number | null;
  /** Tell the results in words. Default false. */
  answer?: boolean | null;
  /** Most that model calls may take. Default, and at most: the limits of the service. */
  limits?: LimitsInput | null;
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
  const maxReplans = parseMaxReplans(input.maxReplans ?? 0);
  const wantsAnswer = input.answer === true;
  const modelLimits = parseModelLimits(input.limits, service);
  const payload = ["createPlan", query, execute];
  const after = maxReplans > 0 || wantsAnswer ? [{ maxReplans, wantsAnswer }] : [];
  const limits = input.limits ? [{ limits: input.limits }] : [];
  const tagged = tags.length > 0 ? [{ tags }] : [];
  const idempotency = toIdempotency(input.idempotencyKey, [...payload, ...after, ...limits, ...tagged]);
  const wish = { maxReplans, wantsAnswer, modelLimits };
  const request = await store.createRequest({
    tenant,
    query,
    tags,
    autoExecute: execute,
    ...wish,
    trace: operation?.origin,
    idempotency,
  });
  operation?.about(request._id, request.trace);
  if (request.status === "PLANNING") offers.offerPlanning(request._id);
  return request;
}
