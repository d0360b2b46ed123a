import {
  checkToolCalls,
  createToolIndex,
  type Diagnostic,
  digitsOf,
  isJsonObject,
  type JsonObject,
  mapExact,
  type OrderingPolicy,
  orderToolCalls,
  type ReadToolCall,
  readToolCalls,
  type ToolCall,
  type ToolDescriptor,
  type ToolIndex,
  toolContract,
  validateArguments,
} from "@planwright/plan";
import { type Clock, createSystemClock } from "./clock.ts";
import { runPlan } from "./run-plan.ts";

/** A tool with its implementation. */
export interface RunnableTool extends ToolDescriptor {
  /**
   * Executes a call with its arguments as written. On failure it throws or returns an MCP result with
   * `isError`.
   */
  run?: ((args: JsonObject, options: { signal: AbortSignal }) => unknown) | undefined;
}

/** A call with its arguments, as an object or as JSON text, under any of their names. */
export interface RunnableCall extends ToolCall {
  arguments?: unknown;
  parameters?: unknown;
  params?: unknown;
  args?: unknown;
  input?: unknown;
}

/** How one call ended. */
export type OrderedCallResult = {
  /** The id of the call, or the one that it got: `call_1`. */
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
  const index = createToolIndex(tools);
  // Inserted calls run too; their results are not returned.
  const inserted = ordered.filter((call) => !calls.some((own) => own === call));
  const all = readToolCalls([...calls, ...inserted], tools);
  const made = new Map<string, { result?: unknown; durationMs: number }>();
  const { steps } = await runPlan(planOf(all, index), {
    tools: [...index.tools.map(withoutRun), { name: UNKNOWN_TOOL }],
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
  return all.slice(0, calls.length).map(({ id, tool = "" }, position) => {
    const stepId = stepIdOf(position);
    const { status, error } = steps[stepId] ?? {};
    const { result, durationMs = 0 } = made.get(stepId) ?? {};
    const common = { id, tool, durationMs };
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
function planOf(calls: readonly ReadToolCall[], index: ToolIndex): { steps: object[] } {
  const idOf = new Map(calls.map(({ id }, position) => [id, stepIdOf(position)]));
  const steps = calls.map(({ tool = "", after, dependsOn, provides }, position) => {
    const before = after.flatMap((id) => idOf.get(id) ?? []);
    const dependencies = dependsOn.map((name) => idOf.get(name) ?? index.find(name)?.name ?? name);
    return {
      id: stepIdOf(position),
      tool: index.find(tool)?.name ?? UNKNOWN_TOOL,
      dependsOn: [...new Set([...before, ...dependencies])],
      provides,
      retry: { maxAttempts: 1 },
    };
  });
  return { steps };
}

/** Members of an input schema that are declarations of the contract. */
const OF_CONTRACT = ["x-orchestration", "depends_on", "dependsOn", "dependencies"];

/**
 * The descriptor without `run`, and with only the contract of its input schema: arguments are checked when
 * the call is made. The fields that it requires of other tools are left out, as the engine gets no results.
 */
function withoutRun({ run: _run, inputSchema, ...tool }: RunnableTool): ToolDescriptor {
  const declared = Object.entries(inputSchema ?? {}).filter(([name]) => OF_CONTRACT.includes(name));
  const plain = { ...tool, inputSchema: Object.fromEntries(declared) };
  const { dependsOn } = toolContract(plain).contract;
  if (dependsOn.every(({ requiredFields }) => requiredFields.length === 0)) return plain;
  return { ...plain, override: { ...tool.override, depends_on: dependsOn.map(({ tool: name }) => name) } };
}

async function runCall(
  call: ReadToolCall | undefined,
  { index, signal }: { index: ToolIndex; signal: AbortSignal },
): Promise<unknown> {
  const { tool: name = "", arguments: args = {}, problems = [] } = call ?? {};
  const tool: RunnableTool | undefined = index.find(name);
  if (!tool) throw refusal(`Tool ${name} is not known`, "TOOL_NOT_FOUND");
  if (typeof tool.run !== "function") throw refusal(`Tool ${name} has no run function`, "TOOL_NOT_FOUND");
  const found = validateArguments(tool, args).filter(({ severity }) => severity === "error");
  const all = problems.length > 0 ? problems : found.map(({ message }) => message);
  if (all.length > 0) throw refusal(all.join("; "), "ARGUMENTS_INVALID");
  return tool.run(mapExact(args, digitsOf), { signal });
}

/** An exception with effect `none`: the tool was not called. */
function refusal(message: string, code: string): TypeError {
  return Object.assign(new TypeError(message), { code, retryable: false, effect: "none" });
}
