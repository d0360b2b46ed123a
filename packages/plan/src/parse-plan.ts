import type { Diagnostic } from "./diagnostic.ts";
import { rewriteReferences } from "./dialects/rewrite-references.ts";
import { toCanonical } from "./dialects/to-canonical.ts";
import { planGraph } from "./graph.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";
import { type LimitsInput, LimitsSchema } from "./limits.ts";
import { type Plan, PlanSchema } from "./plan.ts";
import type { PolicyInput } from "./policy.ts";
import { resolvePolicy } from "./profiles.ts";
import { planNames } from "./references/referenced-steps.ts";
import { isForEachStep, type Step } from "./step.ts";
import type { ToolDescriptor } from "./tool-descriptor.ts";
import { validatePlan } from "./validate-plan.ts";

/** How {@link parsePlan} is to read. */
export interface ParsePlanOptions {
  /** With a catalogue the plan is validated against it as well. */
  tools?: readonly ToolDescriptor[] | undefined;
  /** Wins over what the input says: policies are the host's, never the model's. */
  policy?: PolicyInput | undefined;
  /** Overrides the default limits. */
  limits?: LimitsInput | undefined;
}

/** A plan in the one form, or everything that is wrong with the input. */
export type ParsePlanResult =
  | { ok: true; plan: Plan; diagnostics: Diagnostic[] }
  | { ok: false; diagnostics: Diagnostic[] };

/**
 * Reads a plan in any accepted dialect, as a value or as JSON text, into the canonical form: ids given, arguments
 * objects, references `<<step.path>>`, policy and limits explicit. Never throws for any JSON.
 */
export function parsePlan(input: unknown, options: ParsePlanOptions = {}): ParsePlanResult {
  const limits = LimitsSchema.parse(options.limits ?? {});
  const value = readValue(input, limits);
  if ("diagnostic" in value) return { ok: false, diagnostics: [value.diagnostic] };
  const canonical = toCanonical(value.json);
  if (!canonical) {
    return refused(
      "PLAN_SHAPE",
      'This is not a plan: a plan is {"steps": [{"id", "tool", "arguments"}]} or a list of calls',
    );
  }
  const { draft, diagnostics } = canonical;
  const count = Array.isArray(draft["steps"]) ? draft["steps"].length : 0;
  if (count > limits.maxSteps) {
    return refused(
      "LIMIT_STEPS",
      `The plan has ${count} steps, more than the ${limits.maxSteps} allowed; split it`,
    );
  }
  const given = isJsonObject(draft["policy"]) ? draft["policy"] : {};
  const policy = resolvePolicy({ ...given, ...options.policy });
  if (!policy.ok) return { ok: false, diagnostics: [...diagnostics, ...policy.diagnostics] };
  const parsed = PlanSchema.safeParse({ ...draft, policy: policy.policy, limits });
  if (!parsed.success)
    return { ok: false, diagnostics: [...diagnostics, ...shapeDiagnostics(parsed.error.issues, draft)] };

  const plan = rewriteReferences(addDependencies(parsed.data));
  const findings = [...diagnostics, ...checkForEach(plan), ...structureDiagnostics(plan, options.tools)];
  return findings.some((finding) => finding.severity === "error")
    ? { ok: false, diagnostics: findings }
    : { ok: true, plan, diagnostics: findings };
}

/** The canonical text of a plan: parsing it gives the same plan. */
export function printPlan(plan: Plan): string {
  return JSON.stringify(plan, null, 2);
}

function refused(code: string, message: string): ParsePlanResult {
  return { ok: false, diagnostics: [{ code, severity: "error", message }] };
}

function readValue(input: unknown, limits: Plan["limits"]): { json: JsonValue } | { diagnostic: Diagnostic } {
  const problem = (code: string, message: string) => ({
    diagnostic: { code, severity: "error" as const, message },
  });
  let text: string;
  try {
    text = typeof input === "string" ? input : (JSON.stringify(input) ?? "");
  } catch {
    return problem("PLAN_NOT_JSON", "The plan holds values that JSON cannot carry, such as a cycle");
  }
  if (text.length > limits.maxBytes) {
    return problem(
      "LIMIT_BYTES",
      `The plan has ${text.length} characters, more than the ${limits.maxBytes} bytes allowed`,
    );
  }
  try {
    const json: JsonValue = JSON.parse(text);
    if (depthOf(json, limits.maxDepth + 8) > limits.maxDepth + 8) {
      return problem("LIMIT_DEPTH", `The plan is nested deeper than the ${limits.maxDepth} levels allowed`);
    }
    return { json };
  } catch {
    return problem("PLAN_NOT_JSON", "The plan is not valid JSON");
  }
}

/** Depth of a value, counted no further than one past `limit`. */
function depthOf(value: JsonValue, limit: number): number {
  let level: JsonValue[] = [value];
  for (let depth = 0; ; depth += 1) {
    const inner = level.filter((item) => typeof item === "object" && item !== null);
    if (inner.length === 0 || depth > limit) return depth;
    level = inner.flatMap((item) =>
      Array.isArray(item) ? item : isJsonObject(item) ? Object.values(item) : [],
    );
  }
}

/** Explicit dependencies in the order given; every reference is also a dependency. */
function addDependencies(plan: Plan): Plan {
  const { dependencies } = planGraph(plan);
  const ids = planNames(plan).ids;
  const steps = plan.steps.map((step): Step => {
    const absent =
      plan.policy.onAbsentDependency === "error" ? step.dependsOn.filter((id) => !ids.has(id)) : [];
    return {
      ...step,
      dependsOn: [...(dependencies.get(step.id) ?? []).filter((id) => id !== step.id), ...absent],
    };
  });
  return { ...plan, steps };
}

function checkForEach(plan: Plan): Diagnostic[] {
  return plan.steps.flatMap((step, position) => {
    if (!isForEachStep(step) || !Array.isArray(step.forEach.items)) return [];
    const count = step.forEach.items.length;
    if (count <= plan.limits.maxItems) return [];
    return [
      {
        code: "LIMIT_ITEMS",
        severity: "error" as const,
        stepId: step.id,
        path: `steps[${position}].forEach.items`,
        message: `step ${step.id} has ${count} items, more than the ${plan.limits.maxItems} allowed`,
      },
    ];
  });
}

/** Without a catalogue tools are taken on trust, and everything else is checked. */
function structureDiagnostics(plan: Plan, tools: readonly ToolDescriptor[] | undefined): Diagnostic[] {
  if (tools) return validatePlan(plan, tools);
  return validatePlan(plan, []).filter((diagnostic) => diagnostic.code !== "TOOL_UNKNOWN");
}

interface Issue {
  code: string;
  path: PropertyKey[];
  message: string;
}

function shapeDiagnostics(issues: readonly Issue[], draft: JsonObject): Diagnostic[] {
  const steps = Array.isArray(draft["steps"]) ? draft["steps"] : [];
  return issues.slice(0, 100).map((issue) => {
    const [first, position] = issue.path;
    const step = first === "steps" && typeof position === "number" ? steps[position] : undefined;
    const stepId = isJsonObject(step) && typeof step["id"] === "string" ? step["id"] : undefined;
    const path = issue.path
      .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
      .join("");
    const place = path.replace(/^\./, "");
    return {
      code: issue.code === "unrecognized_keys" ? "FIELD_UNKNOWN" : "PLAN_SHAPE",
      severity: "error" as const,
      ...(stepId === undefined ? {} : { stepId }),
      ...(place === "" ? {} : { path: place }),
      message: `${place === "" ? "the plan" : place}: ${issue.message}`,
    };
  });
}
