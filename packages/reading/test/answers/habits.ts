import type { JsonObject, JsonValue, Step } from "@planwright/plan";

/** A call, independent of a habit. */
export interface Call {
  readonly id: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly dependsOn: readonly string[];
}

/** A style of answers: one choice for each variation of models. */
export interface Habit {
  readonly toolField: string;
  readonly argumentsField: string;
  readonly idField: string;
  readonly dependsField: string;
  readonly container: "steps" | "tools" | "calls" | "list" | "by id" | "wrapper" | "function";
  readonly arguments: "object" | "text" | "names and values";
  readonly dependency: "id" | "reference" | "field" | "object";
  readonly noDependency: JsonValue;
  readonly reference: "<<" | "{{" | "$ref:";
  readonly notes: JsonObject;
  readonly planNotes: JsonObject;
  /** A field that would change the meaning of the calls. */
  readonly effect: JsonObject | undefined;
}

/** The choices of {@link Habit}. */
export const CHOICES: { readonly [Field in keyof Habit]: readonly Habit[Field][] } = {
  toolField: [
    "tool",
    "toolName",
    "tool_name",
    "Tool",
    "tool-name",
    "name",
    "action",
    "function_name",
    "uses",
  ],
  argumentsField: ["arguments", "parameters", "args", "input", "inputs", "kwargs", "tool_input"].concat([
    "action_input",
    "params",
    "with",
    "Arguments",
    "Tool Input",
  ]),
  idField: ["id", "stepId", "step_id", "ID", "callId", "step"],
  dependsField: [
    "dependsOn",
    "depends_on",
    "dependencies",
    "deps",
    "needs",
    "after",
    "run_after",
    "Depends On",
  ],
  container: ["steps", "tools", "calls", "list", "by id", "wrapper", "function"],
  arguments: ["object", "text", "names and values"],
  dependency: ["id", "reference", "field", "object"],
  noDependency: [null, [], {}, false, "", "none", [null], -1],
  reference: ["<<", "{{", "$ref:"],
  notes: [
    {},
    { description: "what it does" },
    { reasoning: "why; if it helps", confidence: 0.9 },
    { expected_outcome: "an id", save_as: "x", parallel: true },
    { type: "tool", status: "pending", loop: false, retries: 0 },
  ],
  planNotes: [
    {},
    { plan: "first this, then that", outputMapping: { a: "b" } },
    { name: "p", version: "1.0", metadata: { steps: 2 }, total_steps: 2 },
    { assumptions: [], notes: [], questions: [], success: true, mood: "good" },
  ],
  effect: [
    { condition: "if it rains" },
    { for_each_of: "<<s1.items>>" },
    { max_retries: 3 },
    { requires_approval: true },
    { skip_if: "done" },
    { next: "s1" },
  ],
};

/** The document with the calls in the style of a habit. */
export function writeCalls(calls: readonly Call[], habit: Habit): JsonValue {
  const written = calls.map((call, index) => writeCall(call, habit, index === 0));
  const ofPlan = habit.planNotes;
  switch (habit.container) {
    case "list":
      return written;
    case "by id":
      return { ...ofPlan, steps: Object.fromEntries(written.map((step, index) => [calls[index]?.id, step])) };
    case "wrapper":
      return { thought: "as asked", response: { ...ofPlan, steps: written } };
    case "function":
      return { ...ofPlan, steps: written };
    case "steps":
    case "tools":
    case "calls":
      return { ...ofPlan, [habit.container]: written };
  }
}

function writeCall(call: Call, habit: Habit, isFirst: boolean): JsonObject {
  const args = writeArguments(call.arguments, habit);
  const inner = { [habit.toolField]: call.tool, [habit.argumentsField]: args };
  return {
    [habit.idField]: call.id,
    ...(habit.container === "function" ? { function: inner } : inner),
    [habit.dependsField]: writeDependencies(call.dependsOn, habit),
    ...habit.notes,
    ...(isFirst && habit.effect),
  };
}

function writeArguments(args: JsonObject, habit: Habit): JsonValue {
  const written = Object.fromEntries(
    Object.entries(args).map(([name, value]) => [name, writeReferences(value, habit)]),
  );
  if (habit.arguments === "text") return JSON.stringify(written);
  return habit.arguments === "object"
    ? written
    : Object.entries(written).map(([name, value]) => ({ name, value }));
}

/** Rewrites canonical references in another spelling; texts of the calls contain only canonical ones. */
function writeReferences(value: JsonValue, habit: Pick<Habit, "reference">): JsonValue {
  const { reference } = habit;
  if (Array.isArray(value)) return value.map((item) => writeReferences(item, habit));
  if (typeof value !== "string") return value;
  if (reference === "<<") return value;
  return value.replace(/<<([\w.]+)>>/g, reference === "{{" ? "{{$1}}" : "$ref:$1");
}

function writeDependencies(dependsOn: readonly string[], habit: Habit): JsonValue {
  if (dependsOn.length === 0) return habit.noDependency;
  const written = dependsOn.map((id): JsonValue => {
    switch (habit.dependency) {
      case "id":
        return id;
      case "reference":
        return `<<${id}>>`;
      case "field":
        return `${id}._id`;
      case "object":
        return { step: id };
    }
  });
  const [only] = written;
  return written.length === 1 && only !== undefined ? only : written;
}

/** The calls of a plan, in order. */
export function callsOf(steps: readonly Step[]): Call[] {
  return steps.flatMap((step) => ("tool" in step ? [step] : []));
}
