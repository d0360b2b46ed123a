import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { JsonValueSchema, REQUEST_LIFECYCLE, statusesWhere } from "@planwright/plan";
import { z } from "zod";
import { graphqlPersistently } from "../stack/graphql.ts";
import type { Stack } from "../stack/start-stack.ts";

const ErrorSchema = z.object({ code: z.string(), message: z.string() });
const StepSchema = z.object({
  id: z.string(),
  tool: z.string(),
  status: z.string(),
  dependsOn: z.array(z.string()),
  arguments: JsonValueSchema,
  resolvedArguments: JsonValueSchema,
  output: JsonValueSchema,
  error: ErrorSchema.nullable(),
  durationMs: z.number().nullable(),
});
const RequestSchema = z.object({
  requestId: z.string(),
  planId: z.string(),
  status: z.string(),
  error: ErrorSchema.nullable(),
  questions: z.array(z.string()),
  diagnostics: z.array(z.object({ severity: z.string(), message: z.string() })),
  plan: z
    .object({
      status: z.string(),
      durationMs: z.number().nullable(),
      origin: z.object({ kind: z.string(), model: z.string().nullable() }),
      error: ErrorSchema.nullable(),
      steps: z.array(StepSchema),
    })
    .nullable(),
});
/** A request as the demo reads it. */
export type FollowedRequest = z.infer<typeof RequestSchema>;

const CREATE = `mutation ($query: String!, $key: String!) {
  createPlan(query: $query, idempotencyKey: $key) { requestId planId }
}`;
const READ = `query ($requestId: ID!) {
  request(requestId: $requestId) {
    requestId planId status questions
    error { code message }
    diagnostics { severity message }
    plan {
      status durationMs
      origin { kind model }
      error { code message }
      steps {
        id tool status dependsOn arguments resolvedArguments output durationMs
        error { code message }
      }
    }
  }
}`;
/** Statuses of a request to which more happens by itself: one that is READY is started at once. */
const GOING_ON: ReadonlySet<string> = new Set(
  statusesWhere(REQUEST_LIFECYCLE, ({ isOver, needs }) => !isOver && needs !== "answer"),
);
const POLL_MS = 100;

/** Where the API answers, and to whom. */
export type ApiAddress = Pick<Stack, "apiUrl" | "apiKey">;

/** Sends a sentence, once however often it has to be sent again. Returns the id under which everything is recorded. */
export async function sendSentence({ apiUrl, apiKey }: ApiAddress, sentence: string): Promise<string> {
  const schema = z.object({ createPlan: z.object({ requestId: z.string() }) });
  const variables = { query: sentence, key: randomUUID() };
  const operation = { query: CREATE, variables, schema, apiKey };
  const { createPlan } = await graphqlPersistently(apiUrl, operation);
  return createPlan.requestId;
}

/** Reads a request again and again until nothing more will happen by itself. @param onChange - sees each reading */
export async function followRequest(
  { apiUrl, apiKey }: ApiAddress,
  requestId: string,
  onChange: (request: FollowedRequest) => void,
): Promise<FollowedRequest> {
  const schema = z.object({ request: RequestSchema });
  const operation = { query: READ, variables: { requestId }, schema, apiKey };
  for (;;) {
    const { request } = await graphqlPersistently(apiUrl, operation);
    onChange(request);
    if (!GOING_ON.has(request.status)) return request;
    await delay(POLL_MS);
  }
}
