import {
  checkToolCalls,
  createToolIndex,
  type Diagnostic,
  dependenciesOfCall,
  digitsOf,
  isJsonObject,
  type JsonObject,
  mapExact,
  type OrderingPolicy,
  orderToolCalls,
  parseExactJson,
  providedByCall,
  type ToolCall,
  type ToolDescriptor,
  type ToolIndex,
  toolOfCall,
  validateArguments,
} from "@planwright/plan";
import { type Clock, createSystemClock } from "../runner/clock.ts";
import { runPlan } from "../runner/run-plan.ts";

/** A tool with its implementation. */
export interface RunnableTool extends ToolDescriptor {
  /**
   * Executes a call with its arguments as written. On failure it throws or returns an MCP result with
   * `isError`.
   */
  run?: ((args: JsonObject, options: { signal: AbortSignal }) => unknown) | undefined;
}

/** A call with its arguments, as an object or as JSON text. */
export interface RunnableCall extends ToolCall {
  arguments?: unknown;
}

/** How one call ended. */
export type OrderedCallResult = {
  /** The id of the call. */
  id: string;
  tool: string;
  /** From its start to its end, in milliseconds; 0 when it did not start. */
  durationMs: number;
} & ({ result: unknown } | { isError: true; error: string });

/** How calls are executed. */
export interface OrderedCallsOptions {
  /** Overrides the profile `ordered-calls`. */
  policy?: OrderingPolicy | undefined;
  /** Cancels: nothing new starts, running calls see their signal. */
  signal?: AbortSignal | undefined;
  /** Default: the system clock. */
  clock?: Clock | undefined;
  /** Called for each warning, such as a tool that is defined twice. */
  onDiagnostic?: ((diagnostic: Diagnostic) => void) | undefined;
}

/**
 * Executes the calls of one model answer in the order of `orderToolCalls`, with the same engine as plans.
 * Calls run in parallel where they may. A `sequential` tool runs alone, and later calls run after it. Each
 * call is made once, regardless of the results of the others. An unknown tool, invalid arguments and a
 * failure are results with `isError`. Arguments are passed as written: these calls have no references.
 * @returns one result for each call, in the order of the calls
 * @throws {ToolCallsInvalidError} before any call, when two calls have the same id or a call has no tool
 * @throws {DependencyCycleError} before any call, when the policy makes a cycle an error
 * @throws {DependencyAbsentError} before any call, when the policy makes an absent tool or call an error
 */
export async function executeOrderedToolCalls(
  calls: readonly RunnableCall[],
  tools: readonly RunnableTool[],
  options: OrderedCallsOptions = {},
): Promise<OrderedCallResult[]> {
  const policy = { profile: "ordered-calls" as const, ...options.policy };
  const ordered = orderToolCalls(calls, tools, policy).flatMap((group) => group.calls);
  for (const diagnostic of checkToolCalls(calls, tools)) options.onDiagnostic?.(diagnostic);
  if (calls.length === 0) return [];
  const clock = options.clock ?? createSystemClock();
  // Inserted calls run too; their results are not returned.
  const all = [...calls, ...ordered.filter((call) => !calls.some((own) => own === call))];
  const index = createToolIndex(tools);
  const made = new Map<string, { result?: unknown; durationMs: number }>();
  const { steps } = await runPlan(planOf(all, index), {
    tools: [...tools.map(withoutRun), { name: UNKNOWN_TOOL }],
    policy,
    limits: { maxSteps: Math.max(1_000, all.length) },
    signal: options.signal,
    clock,
    callTool: async ({ stepId }, { signal }) => {
      const begunAt = clock.now();
      try {
        const result = await runCall(all[positionOf(stepId)], { index, signal });
        made.set(stepId, { result, durationMs: clock.now() - begunAt });
        // The engine only needs to know failures: results are returned unchanged.
        return isJsonObject(result) && result["isError"] === true ? result : null;
      } catch (error) {
        made.set(stepId, { durationMs: clock.now() - begunAt });
        throw error;
      }
    },
  });
  return calls.map((call, position) => {
    const stepId = stepIdOf(position);
    const { status, error } = steps[stepId] ?? {};
    const { result, durationMs = 0 } = made.get(stepId) ?? {};
    const common = { id: call.id, tool: toolOfCall(call) ?? "", durationMs };
    if (status === "COMPLETED") return { ...common, result };
    return { ...common, isError: true, error: error?.message ?? "The call was not made" };
  });
}

/** Replaces every tool that is not known. */
const UNKNOWN_TOOL = "unknown-tool";

function stepIdOf(position: number): string {
  return `call-${position}`;
}

function positionOf(stepId: string): number {
  return Number(stepId.slice("call-".length));
}

/** The calls as a plan that contains only their order, not their arguments. */
function planOf(calls: readonly RunnableCall[], index: ToolIndex): { steps: object[] } {
  const idOf = new Map(calls.map(({ id }, position) => [id, stepIdOf(position)]));
  const steps = calls.map((call, position) => {
    const after = (call.after ?? []).flatMap((id) => idOf.get(id) ?? []);
    const dependencies = dependenciesOfCall(call).map(
      (name) => idOf.get(name) ?? index.find(name)?.name ?? name,
    );
    return {
      id: stepIdOf(position),
      tool: index.find(toolOfCall(call) ?? "")?.name ?? UNKNOWN_TOOL,
      dependsOn: [...new Set([...after, ...dependencies])],
      provides: providedByCall(call),
      retry: { maxAttempts: 1 },
    };
  });
  return { steps };
}

/** The descriptor without `run` and input schema: arguments are checked when the call is made. */
function withoutRun({ run: _run, inputSchema: _inputSchema, ...tool }: RunnableTool): ToolDescriptor {
  return tool;
}

async function runCall(
  call: RunnableCall | undefined,
  { index, signal }: { index: ToolIndex; signal: AbortSignal },
): Promise<unknown> {
  const name = (call && toolOfCall(call)) ?? "";
  const tool: RunnableTool | undefined = index.find(name);
  if (!tool) throw refusal(`Tool ${name} is not known`, "TOOL_NOT_FOUND");
  if (typeof tool.run !== "function") throw refusal(`Tool ${name} has no run function`, "TOOL_NOT_FOUND");
  const args = argumentsOf(call);
  if (!args) throw refusal(`Arguments of ${name} are not an object`, "ARGUMENTS_INVALID");
  const problems = validateArguments(tool, args).filter(({ severity }) => severity === "error");
  if (problems.length > 0) {
    throw refusal(problems.map(({ message }) => message).join("; "), "ARGUMENTS_INVALID");
  }
  return tool.run(mapExact(args, digitsOf), { signal });
}

function argumentsOf(call: RunnableCall | undefined): JsonObject | undefined {
  const { arguments: given } = call ?? {};
  if (given === undefined || given === null || given === "") return {};
  const value: unknown = typeof given === "string" ? parsed(given) : given;
  return isJsonObject(value) ? value : undefined;
}

function parsed(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** An exception with effect `none`: the tool was not called. */
function refusal(message: string, code: string): TypeError {
  return Object.assign(new TypeError(message), { code, retryable: false, effect: "none" });
}
