import type { CallToolResult, ServerContext, Tool } from "@modelcontextprotocol/server";
import { readToolPlan } from "@planwright/engine";
import {
  isJsonObject,
  type JsonObject,
  JsonObjectSchema,
  ProfileSchema,
  type RequestId,
  withoutNulls,
} from "@planwright/plan";
import { z } from "zod";
import { parsePolicy } from "../arguments/parse-options.ts";
import { BadInputError } from "../errors/api-error.ts";
import { needsOf } from "../graphql/operations.ts";
import type { GraphqlContext } from "../operation/context.ts";
import { createPlan } from "../plans/create-plan.ts";
import { findRequest } from "../plans/find-request.ts";
import { cancelRequest } from "../plans/pause.ts";
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

/** Reports the state of a request; with wait, the state at its end. */
type Report = (
  context: GraphqlContext,
  requestId: RequestId,
  how: { call: ServerContext; wait: boolean },
) => Promise<JsonObject>;

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
export function createFacadeTools(report: Report): ReadonlyMap<string, FacadeTool> {
  /** The result of a call that executes a request. */
  async function executed(
    context: GraphqlContext,
    requestId: RequestId,
    how: { call: ServerContext; wait: boolean },
  ): Promise<FacadeAnswer> {
    context.releaseSlot?.();
    const found = await report(context, requestId, how);
    const { status } = found;
    return { report: found, isError: how.wait && (status === "FAILED" || status === "CANCELLED") };
  }

  const reported = async (
    context: GraphqlContext,
    requestId: RequestId,
    call: ServerContext,
  ): Promise<FacadeAnswer> => ({
    report: await report(context, requestId, { call, wait: false }),
    isError: false,
  });

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
        const { _id } = await createPlan(context, input);
        return executed(context, _id, { call, wait });
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
        const { _id } = await submitPlan(context, { plan, execute: true, tags, idempotencyKey });
        return executed(context, _id, { call, wait });
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
        return reported(context, _id, call);
      },
    }),
    toolOf({
      name: "cancel_request",
      description:
        "Cancels a request and returns at once: no new call starts, and running calls are asked to stop. Returns an error when the request has already ended in another status, or has no plan: then nothing was cancelled",
      schema: z.strictObject({ requestId: RequestIdSchema }),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
      async run(context, { requestId }, call) {
        const { _id } = await cancelRequest(context, requestId);
        context.releaseSlot?.();
        return reported(context, _id, call);
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
