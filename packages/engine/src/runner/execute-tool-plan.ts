import {
  type Diagnostic,
  type FinalPlanStatus,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseExactJson,
  readTool,
  type ToolDescriptor,
} from "@planwright/plan";
import { PlanInvalidError, type RunPlanOptions, type RunResult, runPlan } from "./run-plan.ts";

/** Name of the tool for agents. */
export const EXECUTE_TOOL_PLAN = "execute_tool_plan";

/** Result for the agent: the requested outputs and the errors, without intermediate results. */
export interface ToolPlanResult {
  status: FinalPlanStatus | "INVALID";
  outputs: { [stepId: string]: JsonValue };
  /** The errors of an invalid plan; otherwise each step that failed or was skipped, with the reason. */
  errors: { step?: string; code: string; message: string; suggestion?: string }[];
}

/** A tool object for LangChain or MCP agents. */
export interface ExecuteToolPlanTool {
  name: typeof EXECUTE_TOOL_PLAN;
  description: string;
  /** JSON Schema of the input. */
  inputSchema: JsonObject;
  /**
   * Never throws because of the model's input: an invalid plan gives the status INVALID with its diagnostics.
   */
  execute(input: unknown, options?: { signal?: AbortSignal }): Promise<ToolPlanResult>;
}

const INPUT_SCHEMA: JsonObject = {
  type: "object",
  properties: {
    steps: {
      type: "array",
      minItems: 1,
      description:
        "The calls, in any order; what refers to a step waits for it, everything else runs at once.",
      items: {
        type: "object",
        properties: {
          id: { type: "string", description: "Your name for this step, such as s1" },
          tool: { type: "string", description: "Name of one of your tools" },
          arguments: {
            type: ["object", "string"],
            description:
              'Its arguments, or them as JSON text. "$ref:s1.field" stands for a field of the output of step s1.',
          },
        },
        required: ["id", "tool", "arguments"],
      },
    },
    output_steps: {
      type: "array",
      items: { type: "string" },
      description: "Ids of the steps whose outputs you need; empty or absent: all. Only these come back.",
    },
    policy: {
      type: "object",
      description:
        'Options of the run, such as {"onMissingField": "error"}. Without them a missing field is null, and what does not depend on a failed step goes on.',
    },
  },
  required: ["steps"],
};

/**
 * The plan document in the input of `execute_tool_plan`: the input itself, or its field `plan`, also as JSON
 * text, with the complete policy: the profile `tool-planning`, then the plan's own `policy`, then that of the
 * input. Any other value is returned unchanged; reading it as a plan gives the diagnostics.
 */
export function readToolPlan(input: unknown): unknown {
  if (typeof input === "string") {
    const parsed = parsedObject(input);
    return parsed === undefined ? input : readToolPlan(parsed);
  }
  if (Array.isArray(input)) return readToolPlan({ steps: input });
  if (!isJsonObject(input)) return input;
  const { plan, ...beside } = input;
  const isNested = input["steps"] === undefined && (isJsonObject(plan) || Array.isArray(plan));
  if (!isNested) return { ...input, policy: policyOf(input["policy"]) };
  const document = Array.isArray(plan) ? { steps: plan } : plan;
  const inner = isJsonObject(document) ? document : {};
  return { ...inner, policy: policyOf(inner["policy"], beside["policy"]) };
}

function parsedObject(text: string): object | undefined {
  try {
    const value: unknown = parseExactJson(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Later policies override earlier ones. One that is no object is returned, so that it is refused. */
function policyOf(...policies: (JsonValue | undefined)[]): JsonValue {
  const given = policies.filter((policy) => policy !== undefined && policy !== null);
  const wrong = given.find((policy) => !isJsonObject(policy));
  return wrong ?? Object.assign({ profile: "tool-planning" }, ...given);
}

/**
 * The tool `execute_tool_plan`: an agent sends a complete plan and gets only the outputs that it requested,
 * so intermediate results never enter its context. Opt-in: it is not registered automatically. A plan that
 * calls it is refused. The profile `tool-planning` applies (fail-forward, null for a missing field); `policy`
 * of the input overrides it, and `policy` of the options overrides both.
 * @param tools - the tools that plans may call
 */
export function executeToolPlan(
  tools: readonly ToolDescriptor[],
  options: Omit<RunPlanOptions, "tools" | "signal">,
): ExecuteToolPlanTool {
  const callable = tools.map(readTool).filter(({ name }) => !isItself(name));
  return {
    name: EXECUTE_TOOL_PLAN,
    description:
      "Runs several tool calls as one plan and returns only the outputs of output_steps. Use it when calls build on each other " +
      'or can run at once. Refer to earlier outputs with "$ref:stepId.field".',
    inputSchema: structuredClone(INPUT_SCHEMA),
    async execute(given, { signal } = {}) {
      const input = readToolPlan(given);
      const nested = stepsCallingItself(input);
      if (nested.length > 0) return refused(nested);
      try {
        return toResult(await runPlan(input, { ...options, tools: callable, signal }));
      } catch (error) {
        if (!(error instanceof PlanInvalidError)) throw error;
        return { status: "INVALID", outputs: {}, errors: error.facts.diagnostics.flatMap(toError) };
      }
    },
  };
}

function isItself(name: string): boolean {
  return name === EXECUTE_TOOL_PLAN || name.endsWith(`/${EXECUTE_TOOL_PLAN}`);
}

function stepsCallingItself(input: unknown): string[] {
  if (!isJsonObject(input) || !Array.isArray(input["steps"])) return [];
  return input["steps"].flatMap((step, index) => {
    if (!isJsonObject(step)) return [];
    const names = [step["tool"], step["name"]];
    const isNested = names.some((name) => typeof name === "string" && isItself(name));
    return isNested ? [typeof step["id"] === "string" ? step["id"] : `steps[${index}]`] : [];
  });
}

function refused(stepIds: readonly string[]): ToolPlanResult {
  const message = `${EXECUTE_TOOL_PLAN} cannot be called inside a plan; put its steps into this plan`;
  const errors = stepIds.map((step) => ({ step, code: "TOOL_RECURSIVE", message }));
  return { status: "INVALID", outputs: {}, errors };
}

function toError({ severity, stepId, code, message, suggestion }: Diagnostic): ToolPlanResult["errors"] {
  if (severity !== "error") return [];
  return [{ ...(stepId ? { step: stepId } : {}), code, message, ...(suggestion ? { suggestion } : {}) }];
}

function toResult({ status, outputs, steps, error: why }: RunResult): ToolPlanResult {
  const errors = Object.entries(steps).flatMap(([step, { error }]) =>
    error ? [{ step, code: error.code, message: error.message }] : [],
  );
  // A list with failed items may be a completed step: then only the error of the plan names it.
  const list = why?.code === "ITEMS_FAILED" && isJsonObject(why.data) ? why.data["stepId"] : undefined;
  if (why && typeof list === "string" && !errors.some(({ step }) => step === list))
    errors.push({ step: list, code: why.code, message: why.message });
  return { status, outputs, errors };
}
