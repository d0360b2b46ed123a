import { setTimeout as delay } from "node:timers/promises";
import {
  ApiRefusedError,
  ApiUnreachableError,
  createClient,
  type Given,
  graphql,
  NotTheApiError,
  type Operation,
} from "@planwright/client";
import { JsonObjectSchema, type Plan, PlanSchema } from "@planwright/plan";
import { z } from "zod";
import { type ChaosPlan, sentenceOf, type Tenant } from "./chaos-plan.ts";
import { type Reading, ReadingSchema } from "./evidence.ts";

/** An accepted plan: the API returned its ids. */
export interface AcceptedRequest {
  index: number;
  tenant: Tenant;
  requestId: string;
  planId: string;
  /** Unix milliseconds. */
  at: number;
}

/** A client of the API that repeats calls until they are answered. */
export interface ApiClient {
  /**
   * Submits a plan with an idempotency key, repeatedly until ids are returned.
   * @throws {ApiRefusedError} when the API refused it
   */
  submit(plan: ChaosPlan): Promise<AcceptedRequest>;
  /**
   * Reads a request, optionally with the attempts of its steps; undefined while the API is unreachable.
   * @throws {ApiRefusedError} such as NOT_FOUND
   */
  read(requestId: string, of?: { attempts: boolean }): Promise<Reading | undefined>;
  /** The current version of a plan that was stored; undefined while the API is unreachable. */
  readPlan(requestId: string): Promise<{ planId: string; version: number; plan: Plan } | undefined>;
  /**
   * Asks once for another version of an ended plan. Undefined without an answer: the API may have received it.
   * With the same key it makes no other version.
   * @throws {ApiRefusedError} such as STATE_CONFLICT
   */
  change(requestId: string, options: ChangeOptions): Promise<ChangeResult | undefined>;
  /**
   * Asks once for reruns of many requests at the versions that the client knows. Undefined without an answer.
   * Resolves with the refused ones and their codes.
   */
  retryAll(
    requests: readonly { requestId: string; version: number }[],
    key: string,
  ): Promise<ReadonlyMap<string, string> | undefined>;
  /**
   * Requests a cancel until it is answered. Returns the id of the cancelled plan, or null when the request
   * can no longer be cancelled.
   * @throws {ApiRefusedError}
   */
  cancel(requestId: string): Promise<string | null>;
  /**
   * Approves or refuses a call until it is answered. Returns the id of its plan, or null when the call no longer
   * waits for a decision.
   * @throws {ApiRefusedError}
   */
  decide(requestId: string, decision: ApprovalDecision): Promise<string | null>;
  /** Number of unexpected errors of the API, by code and message. */
  readonly oddErrors: ReadonlyMap<string, number>;
  /** Number of submissions that were sent again. */
  resubmissions(): number;
}

/** Codes of temporary errors: the call is sent again. */
const TEMPORARY = new Set(["UNAVAILABLE", "OVERLOADED", "TIMEOUT"]);
/** Codes of unexpected errors: they are counted and the call is sent again, so that the run continues. */
const UNEXPECTED = new Set(["INTERNAL", "INTERNAL_SERVER_ERROR", "UNKNOWN"]);
const TRY_AGAIN_MS = 250;
const ANSWER_TIMEOUT_MS = 10_000;
const SUBMIT = graphql(`mutation ($plan: JSON!, $key: String!) {
  accepted: submitPlan(plan: $plan, execute: true, idempotencyKey: $key) { requestId planId }
}`);
const CREATE = graphql(`mutation ($query: String!, $key: String!) {
  accepted: createPlan(query: $query, execute: true, idempotencyKey: $key) { requestId planId }
}`);
const RERUN = graphql(`mutation ($id: ID!, $from: ID, $acceptRepeat: [ID!], $key: String!) {
  rerun(requestId: $id, from: $from, acceptRepeat: $acceptRepeat, idempotencyKey: $key) { planId }
}`);
const AMEND = graphql(`mutation (
  $id: ID!, $plan: JSON, $restore: Int, $version: Int!, $acceptRepeat: [ID!], $key: String!
) {
  amendPlan(
    requestId: $id, plan: $plan, restoreVersion: $restore, fromVersion: $version,
    acceptRepeat: $acceptRepeat, execute: true, idempotencyKey: $key
  ) { request { planId } }
}`);
const RETRY = graphql(`mutation ($requests: [RequestVersion!]!, $key: String!) {
  retryFailedRequests(requests: $requests, dryRun: false, idempotencyKey: $key) {
    results { requestId error { code } }
  }
}`);
const READ_PLAN = graphql(`query ($id: ID!) { request(requestId: $id) {
  planId plan { version document }
} }`);
const CANCEL = graphql("mutation ($id: ID!) { cancel(requestId: $id) { planId } }");
const APPROVE = graphql(`mutation ($id: ID!, $stepId: ID!, $approvalHash: String!, $approved: Boolean!) {
  approve(requestId: $id, stepId: $stepId, approvalHash: $approvalHash, approved: $approved) { planId }
}`);
const READ = graphql(`query ($id: ID!, $attempts: Boolean!) { request(requestId: $id) {
  status planId error { code }
  plan { status waitReason error { code } steps {
    key status output approvalHash attempts @include(if: $attempts) { attempt }
  } }
} }`);

/** Options of {@link ApiClient.change}. */
export interface ChangeOptions {
  change:
    | { kind: "rerun"; from: string | null }
    | { kind: "amend"; plan: Plan; version: number }
    | { kind: "restore"; restoreVersion: number; version: number };
  /** Steps that may be called again although they may have acted. */
  acceptRepeat: string[];
  key: string;
}

/** A decision about the call of a step. */
interface ApprovalDecision {
  stepId: string;
  approvalHash: string;
  approved: boolean;
}

/** The version that was made; or the units that it would call again although they may have acted. */
type ChangeResult = { planId: string } | { mayHaveActed: string[] };

/** A client of the API at this address, with an API key. */
export function createApiClient(url: string, token: string): ApiClient {
  const api = createClient({ url, token, timeoutMs: ANSWER_TIMEOUT_MS });
  const oddErrors = new Map<string, number>();
  let resubmissions = 0;

  /** The data of an answer, or without one the pause before the next try. */
  async function attempt<Result, Variables>(
    operation: Operation<Result, Variables>,
    variables: Given<Variables>,
  ): Promise<{ data: Result } | { waitMs: number }> {
    try {
      return { data: await api.execute(operation, variables) };
    } catch (error) {
      if (error instanceof ApiUnreachableError || error instanceof NotTheApiError)
        return { waitMs: TRY_AGAIN_MS };
      if (!(error instanceof ApiRefusedError)) throw error;
      const { code } = error.facts;
      if (!TEMPORARY.has(code) && !UNEXPECTED.has(code)) throw error;
      if (UNEXPECTED.has(code)) {
        const description = `${code}: ${error.message.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, "...").slice(0, 200)}`;
        oddErrors.set(description, (oddErrors.get(description) ?? 0) + 1);
      }
      const retryAfterMs = error.fact("retryAfterMs");
      return { waitMs: typeof retryAfterMs === "number" ? retryAfterMs : TRY_AGAIN_MS };
    }
  }

  /** Sends a control until it is answered; undefined when it comes too late. */
  async function untilAnswered<Result>(
    send: () => Promise<{ data: Result } | { waitMs: number }>,
  ): Promise<Result | undefined> {
    for (;;) {
      try {
        const answer = await send();
        if ("data" in answer) return answer.data;
        await delay(answer.waitMs);
      } catch (error) {
        if (!(error instanceof ApiRefusedError) || error.facts.code !== "STATE_CONFLICT") throw error;
        return undefined;
      }
    }
  }

  return {
    oddErrors,
    resubmissions: () => resubmissions,
    async submit(plan) {
      const key = `chaos-${plan.index}`;
      const send = () =>
        plan.via === "plan"
          ? attempt(SUBMIT, { plan: plan.document, key })
          : attempt(CREATE, { query: sentenceOf(plan.index), key });
      for (;;) {
        const answer = await send();
        if ("data" in answer) {
          const { requestId, planId } = answer.data.accepted;
          return { index: plan.index, tenant: plan.tenant, requestId, planId, at: Date.now() };
        }
        resubmissions += 1;
        await delay(answer.waitMs);
      }
    },
    async readPlan(requestId) {
      const answer = await attempt(READ_PLAN, { id: requestId });
      if (!("data" in answer)) return undefined;
      const { planId, plan } = answer.data.request ?? {};
      if (!planId || !plan) throw new TypeError(`${requestId} has no plan to change`);
      return { planId, version: plan.version, plan: PlanSchema.parse(plan.document) };
    },
    async change(requestId, { change, acceptRepeat, key }) {
      const common = { id: requestId, acceptRepeat, key };
      try {
        if (change.kind === "rerun") {
          const answer = await attempt(RERUN, { ...common, from: change.from });
          return "data" in answer ? { planId: answer.data.rerun.planId } : undefined;
        }
        const { version } = change;
        const given =
          change.kind === "amend"
            ? { plan: JsonObjectSchema.parse(JSON.parse(JSON.stringify(change.plan))) }
            : { restore: change.restoreVersion };
        const answer = await attempt(AMEND, { ...common, version, ...given });
        return "data" in answer ? { planId: answer.data.amendPlan.request.planId } : undefined;
      } catch (error) {
        if (!(error instanceof ApiRefusedError) || error.facts.code !== "REPEAT_NOT_ACCEPTED") throw error;
        return { mayHaveActed: z.array(z.string()).parse(error.fact("steps")) };
      }
    },
    async retryAll(requests, key) {
      const answer = await attempt(RETRY, { requests: [...requests], key });
      if (!("data" in answer)) return undefined;
      const { results } = answer.data.retryFailedRequests;
      return new Map(
        results.flatMap(({ requestId, error }): [string, string][] =>
          error ? [[requestId, error.code]] : [],
        ),
      );
    },
    async cancel(requestId) {
      const answer = await untilAnswered(() => attempt(CANCEL, { id: requestId }));
      return answer?.cancel.planId ?? null;
    },
    async decide(requestId, decision) {
      const answer = await untilAnswered(() => attempt(APPROVE, { id: requestId, ...decision }));
      return answer?.approve.planId ?? null;
    },
    async read(requestId, { attempts } = { attempts: false }) {
      const answer = await attempt(READ, { id: requestId, attempts });
      return "data" in answer ? ReadingSchema.parse(answer.data.request) : undefined;
    },
  };
}
