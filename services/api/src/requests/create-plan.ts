import type { RequestDocument } from "@planwright/store";
import type { OperationParts } from "../parts.ts";
import { parseQuery } from "./parse-query.ts";

/** Accepts a sentence: durable when it returns, planned behind it. @throws {BadInputError} */
export async function createPlan(
  { store, offers, tenant }: OperationParts,
  input: { query: string; execute: boolean },
): Promise<RequestDocument> {
  const query = parseQuery(input.query);
  const request = await store.createRequest({ tenant, query, autoExecute: input.execute });
  offers.offerPlanning(request._id);
  return request;
}
