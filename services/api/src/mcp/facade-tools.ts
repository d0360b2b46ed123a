/** The tools of the facade: what agents may call, how a call is followed, and what it answers. */
import type { CallToolResult, ServerContext, Tool } from "@modelcontextprotocol/server";
import { readToolPlan, type StepRun, stepAdvice } from "@planwright/engine";
import {
  isJsonObject,
  type JsonObject,
  JsonObjectSchema,
  type JsonValue,
  ProfileSchema,
  planningAdvice,
  type RequestId,
  remedyOfProblem,
  stepNeedsPerson,
  withoutNulls,
} from "@planwright/plan";
import type { PlanHead, RequestDocument } from "@planwright/store";
import { z } from "zod";
import type { CredentialWatch } from "../access/credential-watch.ts";
import { parsePolicy } from "../arguments/parse-options.ts";
import { BadInputError, UnauthenticatedError } from "../errors/api-error.ts";
import { isOnlyOfWait } from "../errors/format-error.ts";
import { isAtRest, type RequestSnapshot } from "../feeds/request-feed.ts";
import { needsOf } from "../graphql/operations.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { type PlanOutputs, readPlanOutputs } from "../operation/plan-outputs.ts";
import { toJson } from "../operation/reads.ts";
import { createPlan } from "../plans/create-plan.ts";
import { findRequest } from "../plans/find-request.ts";
import { cancelRequest } from "../plans/pause.ts";
import { settlementOf } from "../plans/step-views.ts";
import { submitPlan } from "../plans/submit-plan.ts";

/** The operation that each tool of the facade stands for: it needs the same. */
export const NEEDS_OF_TOOL = {
  create_plan: needsOf("mutation", ["createPlan"]),
  execute_tool_plan: needsOf("mutation", ["submitPlan"]),
  get_request: needsOf("query", ["request"]),
  cancel_request: needsOf("mutation", ["cancel"]),
} as const;

/** A tool of the facade. */
type FacadeToolName = keyof typeof NEEDS_OF_TOOL;

/** The result of a call. */
interface FacadeAnswer {
  report: JsonObject;
  /** True when the tool did not do the requested work. */
  isError: boolean;
}

/** A tool with its function. */
export interface FacadeTool {
  listed: Tool & { name: FacadeToolName };
  /** @throws {ApiError} for invalid arguments, and every error of the operation */
  call(
    context: GraphqlContext,
    given: CallToolResult["structuredContent"],
    call: ServerContext,
  ): Promise<FacadeAnswer>;
}

const RequestIdSchema = z.string().max(100).describe("req_..., as an earlier call returned it");
const KeySchema = z
  .string()
  .min(1)
  .max(256)
  .optional()
  .describe(
    "A key that you choose for this submission: the same key within 24 h returns the same request and does nothing twice",
  );
const WaitSchema = z
  .boolean()
  .default(true)
  .describe("false returns at once; get_request shows the progress");
const TagsSchema = z
  .array(z.string())
  .max(10)
  .optional()
  .describe("Labels to find the request by, each 1 to 64 of A-Z a-z 0-9 . _ : / -");

const ContextSchema = z
  .strictObject({
    now: z.iso
      .datetime({ offset: true })
      .optional()
      .describe("The current time, for words such as today. Default: the time of the call"),
    timezone: z.string().max(100).optional().describe("IANA name, such as Europe/Berlin. Default: UTC"),
    locale: z.string().max(100).optional().describe("BCP 47 tag, such as de-DE"),
    facts: z
      .record(z.string(), z.json())
      .optional()
      .describe("Facts about the user, such as ids and defaults; at most 16 KiB"),
  })
  .transform(({ now, ...context }) => (now === undefined ? context : { ...context, now: new Date(now) }))
  .optional()
  .describe("Time and place of the user, for words such as tomorrow");
const ProfileNameSchema = z
  .string()
  .max(100)
  .optional()
  .describe(`Makes the plan behave like one of the older systems: ${ProfileSchema.options.join(", ")}`);
const PolicyOptionsSchema = z
  .record(z.string(), z.json())
  .optional()
  .describe('Options of the plan\'s policy, such as {"maxParallel": 4}; each overrides the profile');

const ENDS_BADLY =
  "With wait, the result is an error when the request ends FAILED or CANCELLED; it names the failed steps.";
const MAKES_EFFECTS = { readOnlyHint: false, destructiveHint: true, openWorldHint: true };

/** The tools of the facade by their names; they call the operations of this service, which admitted them. */
export function createFacadeTools(
  options: Pick<ReportOptions, "credentials" | "waitMs">,
): ReadonlyMap<string, FacadeTool> {
  /**
   * The report of a request that this call has accepted or changed. When too many clients follow requests, or the
   * database fails meanwhile, it is what is known already.
   */
  async function reportDone(
    context: GraphqlContext,
    { _id: requestId, planId, status }: RequestDocument,
    how: { call: ServerContext; wait: boolean },
  ): Promise<JsonObject> {
    context.releaseSlot?.();
    try {
      return await reportAtRest(context, requestId, { ...options, ...how });
    } catch (error) {
      if (isOnlyOfWait(error)) return { requestId, planId, status };
      throw error;
    }
  }

  /** The result of a call that executes a request. */
  async function executed(
    context: GraphqlContext,
    request: RequestDocument,
    how: { call: ServerContext; wait: boolean },
  ): Promise<FacadeAnswer> {
    const report = await reportDone(context, request, how);
    const { status } = report;
    return { report, isError: how.wait && (status === "FAILED" || status === "CANCELLED") };
  }

  return new Map([
    toolOf({
      name: "create_plan",
      description: `Plans a sentence with the tools that Planwright knows, executes the plan, and returns the outputs of its last steps. ${ENDS_BADLY}`,
      schema: z.strictObject({
        query: z.string().min(1).max(10_000).describe("What to do, in plain words"),
        execute: z.boolean().default(true).describe("false only plans"),
        wait: WaitSchema,
        context: ContextSchema,
        profile: ProfileNameSchema,
        policy: PolicyOptionsSchema,
        tags: TagsSchema,
        idempotencyKey: KeySchema,
      }),
      annotations: { ...MAKES_EFFECTS, idempotentHint: false },
      async run(context, { wait, tags = null, idempotencyKey = null, ...options }, call) {
        const input = {
          ...options,
          context: options.context ?? null,
          profile: options.profile ?? null,
          tags,
          idempotencyKey,
        };
        return executed(context, await createPlan(context, input), { call, wait });
      },
    }),
    toolOf({
      name: "execute_tool_plan",
      description: `Executes a complete plan of tool calls with references such as <<step.field>> between them, and returns only the outputs that the plan names in outputs. A missing field is null, and a failure skips only what depends on it, unless policy says otherwise. ${ENDS_BADLY}`,
      schema: z
        .strictObject({
          plan: z
            .looseObject({})
            .optional()
            .describe(
              '{ "steps": [{ "id", "tool", "arguments", "dependsOn"? }], "outputs"?: [step ids] or { name: value with references } }',
            ),
          steps: z
            .array(z.looseObject({}))
            .max(1_000)
            .optional()
            .describe('Instead of plan: [{ "id", "tool", "arguments" }]'),
          output_steps: z
            .array(z.string().max(100))
            .max(1_000)
            .optional()
            .describe("With steps: ids of the steps whose outputs are returned; empty or absent: all"),
          policy: PolicyOptionsSchema,
          wait: WaitSchema,
          tags: TagsSchema,
          idempotencyKey: KeySchema,
        })
        .refine(({ plan, steps, output_steps }) => (plan ? !steps && !output_steps : steps), {
          message: "Give either plan, or steps with output_steps",
        }),
      annotations: { ...MAKES_EFFECTS, idempotentHint: false },
      async run(
        context,
        { plan: given, steps, output_steps, policy, wait, tags = null, idempotencyKey = null },
        call,
      ) {
        const document = given ?? { steps, ...(output_steps && { output_steps }) };
        const plan = readToolPlan({ plan: document, policy: parsePolicy({ policy }) });
        const request = await submitPlan(context, { plan, execute: true, tags, idempotencyKey });
        return executed(context, request, { call, wait });
      },
    }),
    toolOf({
      name: "get_request",
      description:
        "Shows the state of a request: status, outputs, failures, and what it needs from a person. A failed request is reported, and is not an error of this tool",
      schema: z.strictObject({ requestId: RequestIdSchema }),
      annotations: { readOnlyHint: true, openWorldHint: false },
      async run(context, { requestId }, call) {
        const { _id } = await findRequest(context, requestId);
        const report = await reportAtRest(context, _id, { ...options, call, wait: false });
        return { report, isError: false };
      },
    }),
    toolOf({
      name: "cancel_request",
      description:
        "Cancels a request and returns at once: no new call starts, and running calls are asked to stop. Returns an error when the request has already ended in another status, or has no plan: then nothing was cancelled",
      schema: z.strictObject({ requestId: RequestIdSchema }),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
      async run(context, { requestId }, call) {
        const cancelled = await cancelRequest(context, requestId);
        return { report: await reportDone(context, cancelled, { call, wait: false }), isError: false };
      },
    }),
  ]);
}

/** The protocol's type of an input schema. */
const ObjectSchemaSchema = z.looseObject({ type: z.literal("object") });

interface Definition<Schema extends z.ZodObject> {
  name: FacadeToolName;
  description: string;
  schema: Schema;
  annotations: NonNullable<Tool["annotations"]>;
  run: (context: GraphqlContext, input: z.output<Schema>, call: ServerContext) => Promise<FacadeAnswer>;
}

/** One tool. It checks arguments itself, because errors of the SDK have no code and remedy. */
function toolOf<Schema extends z.ZodObject>({
  name,
  description,
  schema,
  annotations,
  run,
}: Definition<Schema>): [FacadeToolName, FacadeTool] {
  const inputSchema = ObjectSchemaSchema.parse(z.toJSONSchema(schema, { io: "input" }));
  const describedBy = JsonObjectSchema.parse(inputSchema);
  return [
    name,
    {
      listed: { name, description, inputSchema, annotations },
      call: async (context, given, call) =>
        run(context, parseArguments(name, { schema, inputSchema: describedBy }, given), call),
    },
  ];
}

/** Longest message, in UTF-16 units: it quotes names of unknown arguments. */
const MAX_MESSAGE = 300;

/**
 * The parsed arguments of a tool call; null for an optional one means that it is absent.
 * @param inputSchema - the JSON Schema of `schema`
 * @throws {BadInputError} for the first wrong one
 */
function parseArguments<Schema extends z.ZodType>(
  tool: string,
  { schema, inputSchema }: { schema: Schema; inputSchema: JsonObject },
  given: unknown,
): z.output<Schema> {
  const present = isJsonObject(given) ? withoutNulls(given, inputSchema) : (given ?? {});
  const parsed = schema.safeParse(present, {
    error: ({ code, input }) =>
      code === "invalid_type" && (input === undefined || input === null) ? "is missing" : undefined,
  });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const argument = issue?.path.join(".").slice(0, MAX_MESSAGE) || "arguments";
  const message = `${argument}: ${issue?.message ?? "cannot be read"}`.slice(0, MAX_MESSAGE);
  throw new BadInputError(
    argument,
    message,
    `Call ${tool} again with arguments that fit its inputSchema, which tools/list returns.`,
  );
}

/** Options of {@link reportAtRest}. */
interface ReportOptions {
  /** Ends the wait when the credential of the caller ends. */
  credentials: Pick<CredentialWatch, "follow">;
  call: ServerContext;
  /** Whether to wait until the request has ended or waits for a person. */
  wait: boolean;
  /** Longest wait, in milliseconds. */
  waitMs: number;
}

/**
 * Follows a request and reports its progress, until it has ended, waits for a person, or the timeout has
 * passed.
 * @throws {UnauthenticatedError} when the credential of the caller ends before that
 */
async function reportAtRest(
  context: GraphqlContext,
  requestId: RequestId,
  { call, wait, waitMs, credentials }: ReportOptions,
): Promise<JsonObject> {
  const ending = new AbortController();
  const stop = (): void => ending.abort();
  let hasCredentialEnded = false;
  const leave = credentials.follow(context.caller, () => {
    hasCredentialEnded = true;
    stop();
  });
  call.mcpReq.signal.addEventListener("abort", stop, { once: true });
  // The client may have left while its request was stored.
  if (call.mcpReq.signal.aborted) stop();
  try {
    const last = await untilAtRest(context, requestId, {
      waitMs,
      signal: ending.signal,
      ...(!wait && { isLast: () => true }),
      onState: progressNotifier(call),
    });
    if (hasCredentialEnded) throw new UnauthenticatedError("ended later", { requestId });
    if (!last) return { requestId };
    return reportOf(last, await readPlanOutputs(last.request.planId, context));
  } finally {
    leave();
    call.mcpReq.signal.removeEventListener("abort", stop);
  }
}

/** Sends progress notifications to a client that requested them. */
function progressNotifier({ mcpReq }: ServerContext): (state: RequestSnapshot) => Promise<void> {
  const progressToken = mcpReq._meta?.progressToken;
  const progressOf = createRisingProgress();
  return async (state) => {
    const progress = progressToken === undefined ? null : progressOf(state);
    if (!progress) return;
    await mcpReq.notify({ method: "notifications/progress", params: { progressToken, ...progress } });
  };
}

/** A progress notification. */
interface Progress {
  progress: number;
  /** At least `progress`; absent before there is a plan. */
  total?: number;
  message: string;
}

/**
 * The progress of one request for MCP, where the value must rise with every notification. A state without
 * more ended steps raises it half of the way to the next integer. Steps of an earlier version stay counted.
 * Null for a state that was already reported, or that cannot raise the value.
 * @see https://modelcontextprotocol.io/specification/2025-06-18/basic/utilities/progress
 */
export function createRisingProgress(): (state: RequestSnapshot) => Progress | null {
  let last = -1;
  let lastMessage = "";
  let planId: string | undefined;
  let earlier = 0;
  return (state) => {
    const { done, total, message } = progressOf(state);
    if (planId !== undefined && planId !== state.request.planId) {
      earlier = Math.max(0, Math.floor(last));
      lastMessage = "";
    }
    planId = state.request.planId;
    const counted = earlier + done;
    if (counted <= last && message === lastMessage) return null;
    const progress = counted > last ? counted : (last + Math.floor(last) + 1) / 2;
    const most = total > 0 ? earlier + total : undefined;
    if (progress <= last || progress > (most ?? Number.POSITIVE_INFINITY)) return null;
    last = progress;
    lastMessage = message;
    return { progress, ...(most === undefined ? {} : { total: most }), message };
  };
}

/** Options of {@link untilAtRest}. */
interface FollowOptions {
  /** Longest wait, in milliseconds. */
  waitMs: number;
  /** Ends the wait early: the client has disconnected, or the service stops. */
  signal?: AbortSignal | undefined;
  /** True for the state that ends the wait. Default: {@link isAtRest}. */
  isLast?: ((state: RequestSnapshot) => boolean) | undefined;
  /** Called for each other state; the next state waits for it. */
  onState?: ((state: RequestSnapshot) => Promise<void>) | undefined;
}

/**
 * Follows a request until it has ended, waits for a person, or the timeout has passed. Later reads of the
 * operation use the returned state.
 * @throws {OverloadedError} when too many requests are followed
 */
async function untilAtRest(
  { feeds, tenant, reads }: Pick<GraphqlContext, "feeds" | "tenant" | "reads">,
  requestId: RequestId,
  { waitMs, signal, isLast = isAtRest, onState }: FollowOptions,
): Promise<RequestSnapshot | undefined> {
  const states = await feeds.follow(tenant, requestId);
  const stop = (): void => void states.return?.();
  const timer = setTimeout(stop, waitMs);
  signal?.addEventListener("abort", stop, { once: true });
  if (signal?.aborted) stop();
  let last: RequestSnapshot | undefined;
  try {
    for await (const state of states) {
      last = state;
      if (isLast(state)) break;
      await onState?.(state);
    }
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
    stop();
  }
  if (last) reads.primeSnapshot(last);
  return last;
}

/** Most warnings of steps in one report. */
const MAX_WARNINGS = 20;

/** Progress of a request. */
interface RequestProgress {
  done: number;
  total: number;
  message: string;
}

/** Counts ended steps. Pure. */
function progressOf({ request, plan, steps }: RequestSnapshot): RequestProgress {
  const withoutItems = steps.filter(({ item }) => item === null);
  const done = withoutItems.filter(({ finishedAt }) => finishedAt !== null).length;
  const running = withoutItems.filter(({ status }) => status === "RUNNING").map(({ key }) => key);
  const now = running.length > 0 ? `, now ${running.join(", ")}` : "";
  return { done, total: withoutItems.length, message: `${plan?.status ?? request.status}${now}` };
}

/**
 * A request as the result of a tool: ids, status, requested outputs, failures, and the decisions that it
 * needs, without the plan. Pure.
 * @param outputs - outputs of a plan that has ended
 */
function reportOf({ request, plan, steps }: RequestSnapshot, outputs: PlanOutputs | null): JsonObject {
  const failed = steps.filter(({ item, status }) => item === null && status === "FAILED").map(toFailure);
  const open = steps.filter(({ status }) => stepNeedsPerson(status));
  const report: JsonObject = {
    requestId: request._id,
    planId: request.planId,
    status: request.status,
    outputs: Object.fromEntries([...(outputs ?? [])].map(([name, kept]) => [name, toJson(kept)])),
  };
  if (request.error) report["error"] = toProblem(request.error, adviceFor(request, request.error));
  else if (plan?.error) report["error"] = toProblem(plan.error, stepAdvice(plan.error.code));
  if (failed.length > 0) report["failedSteps"] = failed;
  const skipped = steps.filter(({ item, status }) => item === null && status === "SKIPPED").map(toFailure);
  if (skipped.length > 0) report["skippedSteps"] = skipped;
  const warnings = steps.flatMap(({ key, warnings: texts }) => texts.map((message) => ({ key, message })));
  if (warnings.length > 0) report["warnings"] = warnings.slice(0, MAX_WARNINGS);
  if (open.length > 0) report["waitingSteps"] = open.map(({ key, status }) => ({ key, status }));
  const settled = plan ? steps.flatMap((step) => settledOf(plan, step)) : [];
  if (settled.length > 0) report["settledByOperators"] = settled;
  if (request.status === "NEEDS_INPUT") {
    report["questions"] = request.questions.map(({ question }) => question);
  }
  if (request.answer) report["answer"] = request.answer;
  return report;
}

/** The decision of an operator that gave a step its status. */
function settledOf(plan: PlanHead, step: StepRun): JsonValue[] {
  const settled = settlementOf(plan, step);
  return settled ? [{ key: step.key, resolution: settled.resolution, by: settled.by }] : [];
}

/** Of a request that was executed in part nothing is to be sent again. */
function adviceFor({ replans }: RequestDocument, { code }: { code: string }): { remedy: string } {
  return replans && replans.made > 0 ? { remedy: remedyOfProblem(code, "replan") } : planningAdvice(code);
}

function toFailure(step: StepRun): JsonValue {
  const { key, tool, error, effect } = step;
  const { code, message } = error ?? { code: "FAILED", message: "" };
  const advice = stepAdvice(code, undefined, step);
  return { key, tool, ...(effect && { effect }), ...toProblem({ code, message }, advice) };
}

function toProblem({ code, message }: { code: string; message: string }, { remedy }: { remedy: string }) {
  return { code, message, remedy };
}
