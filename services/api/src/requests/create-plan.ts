import type { RequestDocument } from "@planwright/store";
import type { OperationParts } from "../parts.ts";
import { toIdempotency } from "./idempotency.ts";
import { parseQuery } from "./parse-query.ts";

/**
 * Accepts a sentence: durable when it returns, planned behind it. With a key that was used for the same sentence, the
 * request of that time.
 * @throws {BadInputError | IdempotencyKeyReusedError}
 */
export async function createPlan(
  { store, offers, tenant }: OperationParts,
  input: { query: string; execute: boolean; idempotencyKey?: string | null },
): Promise<RequestDocument> {
  const query = parseQuery(input.query);
  const { execute } = input;
  const idempotency = toIdempotency(input.idempotencyKey, ["createPlan", query, execute]);
  const request = await store.createRequest({ tenant, query, autoExecute: execute, idempotency });
  if (request.status === "PLANNING") offers.offerPlanning(request._id);
  return request;
}
