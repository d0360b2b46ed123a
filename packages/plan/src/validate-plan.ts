import type { Diagnostic } from "./diagnostic.ts";
import { planGraph } from "./graph.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";
import { findTool } from "./name-tools.ts";
import type { Plan } from "./plan.ts";
import type { PolicyInput } from "./policy.ts";
import { planNames } from "./references/referenced-steps.ts";
import { scanReferences } from "./references/scan.ts";
import { argumentsOfStep, isForEachStep, type Step, toolOfStep } from "./step.ts";
import { nearest } from "./suggest.ts";
import type { ToolDescriptor } from "./tool-descriptor.ts";
import { validateArguments } from "./validate-arguments.ts";

/** Name of the tool that executes plans: a plan that calls it would call itself. */
const PLAN_TOOL = "execute_tool_plan";
const FORBIDDEN = new Set(["__proto__", "constructor", "prototype"]);
/** What models write where they had no value. */
const PLACEHOLDER =
  /^(?:<[a-z][a-z0-9_ -]*>|\[[a-z][a-z0-9_ -]*\]|YOUR_[A-Z0-9_]+|[A-Z0-9_]*PLACEHOLDER[A-Z0-9_]*|extracted|TODO|TBD)$/;

/** Everything that is wrong with a plan in the canonical form, against a catalogue. Empty means it may run. */
export function validatePlan(
  plan: Plan,
  tools: readonly ToolDescriptor[],
  policy?: PolicyInput,
): Diagnostic[] {
  const effective = { ...plan.policy, ...policy };
  const names = planNames(plan);
  const catalogue = new Map(tools.map((tool) => [tool.name, tool]));
  const found: Diagnostic[] = [...checkIds(plan)];

  for (const [position, step] of plan.steps.entries()) {
    const place = (path: string): Pick<Diagnostic, "stepId" | "path"> => ({
      stepId: step.id,
      path: `steps[${position}]${path}`,
    });
    const argumentsPath = isForEachStep(step) ? ".forEach.do.arguments" : ".arguments";

    for (const [index, id] of step.dependsOn.entries()) {
      if (names.ids.has(id) || effective.onAbsentDependency !== "error") continue;
      const suggestion = nearest(id, names.ids);
      found.push({
        code: "DEPENDENCY_UNKNOWN",
        severity: "error",
        ...place(`.dependsOn[${index}]`),
        message: `step ${step.id} depends on ${id}: no such step${didYouMean(suggestion)}`,
        ...(suggestion ? { suggestion } : {}),
      });
    }

    found.push(...checkReferences(step, names, place));

    const toolName = toolOfStep(step);
    const tool = catalogue.get(toolName) ?? findTool(tools, toolName);
    if (toolName === PLAN_TOOL) {
      found.push({
        code: "TOOL_RECURSIVE",
        severity: "error",
        ...place(".tool"),
        message: `step ${step.id} calls ${PLAN_TOOL}: a plan cannot call the tool that executes plans; put its steps here instead`,
      });
    } else if (!tool) {
      found.push(unknownTool(step, toolName, tools, place(".tool")));
    } else {
      found.push(...checkArguments(step, tool, argumentsPath, place));
    }
    found.push(...checkPlaceholders(step, argumentsPath, place));
  }
  for (const [index, id] of (plan.outputs ?? []).entries()) {
    if (names.ids.has(id)) continue;
    const suggestion = nearest(id, names.ids);
    found.push({
      code: "OUTPUT_UNKNOWN",
      severity: "error",
      path: `outputs[${index}]`,
      message: `the output ${id} was asked for: no such step${didYouMean(suggestion)}`,
      ...(suggestion ? { suggestion } : {}),
    });
  }
  if (effective.onCycle === "error") found.push(...checkCycle(plan));
  return found;
}

type Place = (path: string) => Pick<Diagnostic, "stepId" | "path">;

function didYouMean(suggestion: string | undefined): string {
  return suggestion ? `; did you mean ${suggestion}?` : "";
}

function checkIds(plan: Plan): Diagnostic[] {
  const seen = new Set<string>();
  return plan.steps.flatMap((step, position) => {
    if (!seen.has(step.id)) {
      seen.add(step.id);
      return [];
    }
    return [
      {
        code: "STEP_DUPLICATE",
        severity: "error" as const,
        stepId: step.id,
        path: `steps[${position}].id`,
        message: `the step id ${step.id} is used more than once; give each step its own`,
      },
    ];
  });
}

function checkCycle(plan: Plan): Diagnostic[] {
  const { cycle } = planGraph(plan);
  if (!cycle) return [];
  const [first] = cycle;
  return [
    {
      code: "CYCLE",
      severity: "error",
      ...(first === undefined ? {} : { stepId: first }),
      path: "steps",
      message: `the steps wait for each other: ${[...cycle, first].join(" -> ")}; remove one of these dependencies`,
    },
  ];
}

function unknownTool(
  step: Step,
  name: string,
  tools: readonly ToolDescriptor[],
  place: Pick<Diagnostic, "stepId" | "path">,
): Diagnostic {
  const offers = tools.filter((tool) => tool.name.endsWith(`/${name}`)).map((tool) => tool.name);
  if (offers.length > 1) {
    return {
      code: "TOOL_AMBIGUOUS",
      severity: "error",
      ...place,
      message: `step ${step.id} calls ${name}, which several servers offer: write ${offers.join(" or ")}`,
    };
  }
  const suggestion = nearest(
    name,
    tools.map((tool) => tool.name),
  );
  return {
    code: "TOOL_UNKNOWN",
    severity: "error",
    ...place,
    message: `step ${step.id} calls ${name}: no such tool${didYouMean(suggestion)}`,
    ...(suggestion ? { suggestion } : {}),
  };
}

function checkReferences(step: Step, names: ReturnType<typeof planNames>, place: Place): Diagnostic[] {
  const parts: { path: string; value: unknown; hidden: readonly string[] }[] = isForEachStep(step)
    ? [
        { path: ".forEach.items", value: step.forEach.items, hidden: [] },
        {
          path: ".forEach.do.arguments",
          value: step.forEach.do.arguments,
          hidden: [step.forEach.as, "index"],
        },
        { path: ".forEach.key", value: step.forEach.key, hidden: [step.forEach.as, "index"] },
      ]
    : [{ path: ".arguments", value: step.arguments, hidden: [] }];
  parts.push({ path: ".when", value: step.when, hidden: [] });
  return parts.flatMap(({ path, value, hidden }) =>
    scanReferences(value).flatMap((reference) => {
      const at = place(`${path}${reference.at.map(pathPart).join("")}`);
      const { root, text } = reference;
      const forbidden = reference.path.find((part) => part.type === "property" && FORBIDDEN.has(part.name));
      if (forbidden) {
        return [
          {
            code: "REFERENCE_REFUSED",
            severity: "error" as const,
            ...at,
            message: `step ${step.id} refers to ${text}: __proto__, constructor and prototype cannot be referred to`,
          },
        ];
      }
      if (hidden.includes(root)) return [];
      if (root === step.id) {
        return [
          {
            code: "REFERENCE_TO_ITSELF",
            severity: "error" as const,
            ...at,
            message: `step ${step.id} refers to its own output ${text}; refer to an earlier step`,
          },
        ];
      }
      if (names.ids.has(root)) return [];
      const steps = names.byTool.get(root) ?? [];
      if (steps.length === 1) return [];
      if (steps.length > 1) {
        return [
          {
            code: "REFERENCE_AMBIGUOUS",
            severity: "error" as const,
            ...at,
            message: `step ${step.id} refers to ${text}, but the steps ${steps.join(", ")} all use that tool; name one of them`,
          },
        ];
      }
      const suggestion = nearest(root, names.ids);
      return [
        {
          code: "REFERENCE_UNKNOWN",
          severity: "error" as const,
          ...at,
          message: `step ${step.id} refers to ${root}: no such step${didYouMean(suggestion)}`,
          ...(suggestion ? { suggestion } : {}),
        },
      ];
    }),
  );
}

/** Arguments against the tool's schema; a value that is or holds a reference is judged when it is filled. */
function checkArguments(step: Step, tool: ToolDescriptor, argumentsPath: string, place: Place): Diagnostic[] {
  const args = argumentsOfStep(step);
  const references = scanReferences(args).map((reference) => `/${reference.at.map(String).join("/")}`);
  const isUnknown = (path: string): boolean =>
    path !== "" && references.some((reference) => reference === path || reference.startsWith(`${path}/`));
  return validateArguments(tool, args, isUnknown).map((diagnostic) => ({
    ...diagnostic,
    ...place((diagnostic.path ?? "").replace(/^arguments/, argumentsPath)),
    message: `step ${step.id}: ${diagnostic.message}`,
  }));
}

function checkPlaceholders(step: Step, argumentsPath: string, place: Place): Diagnostic[] {
  return textsOf(argumentsOfStep(step), argumentsPath)
    .filter(({ text }) => PLACEHOLDER.test(text))
    .map(({ text, path }) => ({
      code: "PLACEHOLDER",
      severity: "error" as const,
      ...place(path),
      message: `step ${step.id} has the placeholder ${text} where a value belongs; give the value or a reference to a step`,
    }));
}

function textsOf(value: JsonValue | JsonObject, path: string): { text: string; path: string }[] {
  if (typeof value === "string") return [{ text: value, path }];
  if (Array.isArray(value)) return value.flatMap((item, index) => textsOf(item, `${path}[${index}]`));
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => textsOf(item, `${path}.${key}`));
}

function pathPart(part: string | number): string {
  return typeof part === "number" ? `[${part}]` : `.${part}`;
}
