import type { Tool as ListedTool } from "@modelcontextprotocol/server";
import type { ContractDeclarationSchema, ToolAnnotations } from "@planwright/plan";
import { z } from "zod";

/** Where a tool declares its contract: a field of its `_meta` in `tools/list`. */
const CONTRACT_META = "x-orchestration";
/** The field in the `_meta` of a result that says what the call did; `none`: certainly nothing. */
export const EFFECT_META = "dev.planwright/effect";
/** The field in the `_meta` of a call for its idempotency key. */
export const IDEMPOTENCY_KEY_META = "dev.planwright/idempotencyKey";

/**
 * What a tool promises about parallelism, order, repeats and errors, as it is published. Every field is
 * optional.
 */
export type Contract = z.input<typeof ContractDeclarationSchema>;

/**
 * Throw it when the call did certainly nothing, and will do nothing later: the caller gets its text as an
 * `isError` result with the mark `"dev.planwright/effect": "none"`. Any other exception leaves open whether
 * the call has acted. A repeat of a call that has acted gets its answer, never a refusal.
 */
export class Refusal extends Error {
  override readonly name = "Refusal";
  /** Facts for programs, sent as the structured content of the result. */
  readonly data: Record<string, unknown> | undefined;

  /** @param text - for the caller and for models: the reason, and how to correct the call */
  constructor(text: string, options: { data?: Record<string, unknown> | undefined; cause?: unknown } = {}) {
    super(text, options.cause === undefined ? undefined : { cause: options.cause });
    this.data = options.data;
  }
}

/**
 * Throw it, as any other error, when the call may have acted. The caller gets its text with the JSON-RPC error
 * -32603; the text of other errors goes to the log alone.
 */
export class CallOpenError extends Error {
  override readonly name = "CallOpenError";
}

/** What `run` gets beside its input. */
export interface CallContext {
  /** Name of the tool. */
  tool: string;
  /** The arguments as the client sent them, before they were parsed. */
  arguments: Readonly<Record<string, unknown>>;
  /**
   * The idempotency key of the call, 1 to 512 characters: the same for all attempts of one step, also after
   * a crash. Absent when the client sends none.
   */
  key: string | undefined;
  /** Aborted when the caller cancels or is gone, and at the deadline. */
  signal: AbortSignal;
  /** When the caller gives up: `timeout_ms` of the contract after the call came. Absent without that field. */
  deadlineAt: Date | undefined;
  /** Writes to the log of the server, with the name of the tool and the key. */
  log(this: void, message: string, facts?: Readonly<Record<string, unknown>>): void;
}

/** What {@link defineTool} takes. */
export interface ToolDefinition<Input extends z.ZodObject, Output extends z.ZodObject> {
  /** 1 to 128 characters, unique in the server. */
  name: string;
  /** For people. Default: the name. */
  title?: string | undefined;
  /** Full sentences: models choose tools by these words. */
  description: string;
  /** Input that does not fit is refused before `run`. */
  input: Input;
  /** Fields that it does not name are left out of the answer. */
  output: Output;
  /** Absent: no promise, so that a caller makes one call at a time and repeats none. */
  contract?: Contract | undefined;
  /** Hints for other clients. Those that follow from the contract are added. */
  annotations?: ToolAnnotations | undefined;
  /**
   * @param input - as the input schema parsed it
   * @returns the answer; the call has acted
   * @throws {Refusal} when nothing happened; any other error when that is not certain
   */
  run(input: z.output<Input>, context: CallContext): z.input<Output> | Promise<z.input<Output>>;
}

/** A tool for `serveStdio` and `serveHttp`; made by {@link defineTool}. */
export interface Tool {
  readonly name: string;
  /** How long a call may take, in milliseconds, by the contract. */
  readonly timeoutMs: number | undefined;
  /** The tool as `tools/list` shows it. */
  readonly listed: ListedTool;
  /** Parses the arguments, runs, and gives the answer. @throws what `run` throws */
  call(given: Readonly<Record<string, unknown>>, context: CallContext): Promise<Record<string, unknown>>;
}

const ObjectSchemaSchema = z.looseObject({
  type: z.literal("object"),
  required: z.array(z.string()).optional(),
});

/** Most characters of a text about arguments that do not fit. */
const MAX_REFUSAL_CHARS = 2_000;

/**
 * Makes a tool of its schemas, its contract and its implementation.
 * @throws {Error} when a schema cannot be written as JSON Schema, as one with a transformed output
 */
export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  definition: ToolDefinition<Input, Output>,
): Tool {
  const { name, title = name, description, input, output, contract } = definition;
  return {
    name,
    timeoutMs: contract?.timeout_ms,
    listed: {
      name,
      title,
      description,
      inputSchema: ObjectSchemaSchema.parse(z.toJSONSchema(input, { io: "input" })),
      outputSchema: ObjectSchemaSchema.parse(z.toJSONSchema(output)),
      annotations: { title, ...annotationsOf(contract), ...definition.annotations },
      ...(contract === undefined ? {} : { _meta: { [CONTRACT_META]: contract } }),
    },
    async call(given, context) {
      const parsed = await input.safeParseAsync(given);
      if (!parsed.success) throw new Refusal(refusalText(name, given, parsed.error));
      const answer = await definition.run(parsed.data, context);
      const checked = await output.safeParseAsync(answer);
      if (checked.success) return checked.data;
      // The call has acted: its answer is more than its shape.
      context.log("the answer does not fit the output schema", { error: checked.error });
      return answer;
    },
  };
}

/** The hints of MCP that follow from a contract; what it does not say has no hint. */
function annotationsOf(contract: Contract = {}): ToolAnnotations {
  const { side_effects: hasSideEffects, idempotency } = contract;
  if (hasSideEffects === false) return { readOnlyHint: true, destructiveHint: false, idempotentHint: true };
  return {
    ...(hasSideEffects === true ? { readOnlyHint: false } : {}),
    // A key makes a repeat harmless only for clients that send it.
    ...(idempotency === undefined ? {} : { idempotentHint: idempotency === "natural" }),
  };
}

function refusalText(tool: string, given: Readonly<Record<string, unknown>>, { issues }: z.ZodError): string {
  const problems = issues.map(({ path, message, code }) => {
    const field = path.join(".");
    const isMissing = code === "invalid_type" && path.length === 1 && !Object.hasOwn(given, field);
    return `${field === "" ? "" : `${field}: `}${isMissing ? "is missing" : message}`;
  });
  const text = `Invalid arguments for ${tool}: ${problems.join("; ")}`;
  return text.length > MAX_REFUSAL_CHARS ? `${text.slice(0, MAX_REFUSAL_CHARS - 3)}...` : text;
}
