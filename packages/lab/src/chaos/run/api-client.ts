import { setTimeout as delay } from "node:timers/promises";
import { CodedError, type JsonObject } from "@planwright/plan";
import { z } from "zod";
import { type Reading, ReadingSchema } from "../evidence/reading.ts";
import { type ChaosPlan, sentenceOf } from "../plans/chaos-plan.ts";

const AnswerSchema = z.object({
  data: z.unknown().optional(),
  errors: z
    .array(
      z.object({
        message: z.string(),
        extensions: z.looseObject({ code: z.string(), retryAfterMs: z.number().optional() }).optional(),
      }),
    )
    .optional(),
});

/** The API answered with an error; `facts.code` is its code. */
export class ApiError extends CodedError<{ code: string; retryAfterMs: number | undefined }> {
  readonly code = "API";
  readonly retryable = false;
}

/** An accepted plan: the API returned its ids. */
export interface Accepted {
  index: number;
  requestId: string;
  planId: string;
  /** Unix milliseconds. */
  at: number;
}

/** A client of the API that repeats calls until they are answered. */
export interface ApiClient {
  /**
   * Submits a plan under its own key, repeatedly until ids are returned.
   * @throws {ApiError} when it was refused
   */
  submit(plan: ChaosPlan): Promise<Accepted>;
  /**
   * Reads a request, with the attempts of its steps if asked for; undefined while the API is unreachable.
   * @throws {ApiError} such as NOT_FOUND
   */
  read(requestId: string, of?: { attempts: boolean }): Promise<Reading | undefined>;
  /**
   * Asks once for a rerun of an ended plan. Undefined without an answer: the API may have received it.
   * @throws {ApiError} such as STATE_CONFLICT
   */
  rerun(requestId: string, from: string | null): Promise<string | undefined>;
  /**
   * Asks for a cancel until it is answered. Returns its plan, or null when there is nothing to cancel any
   * more.
   * @throws {ApiError}
   */
  cancel(requestId: string): Promise<string | null>;
  /** How often the API answered with an unexpected error, by its code and message. */
  readonly oddErrors: ReadonlyMap<string, number>;
  /** How many times a submission was sent again. */
  resubmissions(): number;
}

/** Codes of temporary errors: the same call may be sent again. */
const PASSING = new Set(["UNAVAILABLE", "OVERLOADED", "TIMEOUT"]);
/** Codes of unexpected errors: counted, and the call is sent again, so that the run continues. */
const ODD = new Set(["INTERNAL", "INTERNAL_SERVER_ERROR", "UNKNOWN"]);
const TRY_AGAIN_MS = 250;
const ANSWER_WITHIN_MS = 10_000;
const SUBMIT = `mutation($plan: JSON!, $key: String!) {
  accepted: submitPlan(plan: $plan, execute: true, idempotencyKey: $key) { requestId planId }
}`;
const CREATE = `mutation($query: String!, $key: String!) {
  accepted: createPlan(query: $query, execute: true, idempotencyKey: $key) { requestId planId }
}`;
const RERUN = `mutation($id: ID!, $from: ID) { rerun(requestId: $id, from: $from) { planId } }`;
const CANCEL = `mutation($id: ID!) { cancel(requestId: $id) { planId } }`;
const READ = `query($id: ID!, $attempts: Boolean!) { request(requestId: $id) {
  status planId error { code }
  plan { status waitReason error { code } steps { key status output attempts @include(if: $attempts) { attempt } } }
} }`;

/** A client of the API at this address. */
export function createApiClient(url: string): ApiClient {
  const oddErrors = new Map<string, number>();
  let resubmissions = 0;

  /** The data of an answer; otherwise the pause before the next try. */
  async function attempt(
    query: string,
    variables: JsonObject,
  ): Promise<{ data: unknown } | { waitMs: number }> {
    try {
      return { data: await ask(url, query, variables) };
    } catch (error) {
      if (!(error instanceof ApiError)) return { waitMs: TRY_AGAIN_MS };
      const { code, retryAfterMs } = error.facts;
      if (!PASSING.has(code) && !ODD.has(code)) throw error;
      if (ODD.has(code)) {
        const words = `${code}: ${error.message.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, "...").slice(0, 200)}`;
        oddErrors.set(words, (oddErrors.get(words) ?? 0) + 1);
      }
      return { waitMs: retryAfterMs ?? TRY_AGAIN_MS };
    }
  }

  return {
    oddErrors,
    resubmissions: () => resubmissions,
    async submit(plan) {
      const key = `chaos-${plan.index}`;
      const [query, variables] =
        plan.via === "plan"
          ? [SUBMIT, { plan: plan.document, key }]
          : [CREATE, { query: sentenceOf(plan.index), key }];
      for (;;) {
        const answer = await attempt(query, variables);
        if ("data" in answer) {
          const { accepted } = AcceptedSchema.parse(answer.data);
          return { ...accepted, index: plan.index, at: Date.now() };
        }
        resubmissions += 1;
        await delay(answer.waitMs);
      }
    },
    async rerun(requestId, from) {
      const answer = await attempt(RERUN, { id: requestId, from });
      return "data" in answer ? RerunSchema.parse(answer.data).rerun.planId : undefined;
    },
    async cancel(requestId) {
      for (;;) {
        try {
          const answer = await attempt(CANCEL, { id: requestId });
          if ("data" in answer) return CancelSchema.parse(answer.data).cancel.planId;
          await delay(answer.waitMs);
        } catch (error) {
          if (!(error instanceof ApiError) || error.facts.code !== "STATE_CONFLICT") throw error;
          return null;
        }
      }
    },
    async read(requestId, { attempts } = { attempts: false }) {
      const answer = await attempt(READ, { id: requestId, attempts });
      return "data" in answer ? RequestSchema.parse(answer.data).request : undefined;
    },
  };
}

const AcceptedSchema = z.object({ accepted: z.object({ requestId: z.string(), planId: z.string() }) });
const RerunSchema = z.object({ rerun: z.object({ planId: z.string() }) });
const CancelSchema = z.object({ cancel: z.object({ planId: z.string() }) });
const RequestSchema = z.object({ request: ReadingSchema });

/** One operation over HTTP. @throws {ApiError} and whatever `fetch` throws */
async function ask(url: string, query: string, variables: JsonObject = {}): Promise<unknown> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query, variables }),
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  });
  const { data, errors } = AnswerSchema.parse(await response.json());
  const [error] = errors ?? [];
  if (error === undefined) return data;
  const { code = "UNKNOWN", retryAfterMs } = error.extensions ?? {};
  throw new ApiError(error.message, { code, retryAfterMs });
}
