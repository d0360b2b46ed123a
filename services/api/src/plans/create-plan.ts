import type { RequestDocument } from "@planwright/store";
import {
  type ContextInput,
  type PolicyArguments,
  parseContext,
  parsePolicy,
  parseRequestOptions,
  type RequestOptionsInput,
} from "../arguments/parse-options.ts";
import { parseQuery, toIdempotency } from "../arguments/text.ts";
import type { OperationContext } from "../operation/context.ts";

/** Arguments of the mutation createPlan. */
export interface SentenceInput extends RequestOptionsInput, PolicyArguments {
  query: string;
  execute: boolean;
  /** Time and place of the caller. Default: the time of acceptance, in UTC. */
  context?: ContextInput | null;
  idempotencyKey?: string | null;
}

/**
 * Accepts a sentence. The request is durable when this returns, and is planned in the background. A repeated
 * key returns the first request.
 * @throws {BadInputError | BadPolicyError | IdempotencyKeyReusedError}
 */
export async function createPlan(
  { store, offers, tenant, modelLimits: service, operation }: OperationContext,
  input: SentenceInput,
): Promise<RequestDocument> {
  const query = parseQuery(input.query);
  const { execute } = input;
  const { options, payload } = parseRequestOptions(input, service);
  const context = parseContext(input.context);
  const policy = parsePolicy(input);
  const idempotency = toIdempotency(input.idempotencyKey, [
    "createPlan",
    query,
    execute,
    ...payload,
    ...(context ? [{ context }] : []),
    ...(policy ? [{ policy }] : []),
  ]);
  const request = await store.createRequest({
    tenant,
    query,
    autoExecute: execute,
    ...options,
    context,
    policy,
    trace: operation?.origin,
    idempotency,
  });
  operation?.about(request._id, request.trace);
  if (request.status === "PLANNING") offers.offerPlanning(request);
  return request;
}
