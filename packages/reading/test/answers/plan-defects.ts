import { type DiagnosticCode, isJsonObject, type JsonObject, type JsonValue } from "@planwright/plan";
import type { BasePlan } from "./base-plans.ts";
import type { JsonStyle } from "./json-style.ts";

/** An answer while it is built. */
export interface Draft {
  readonly base: BasePlan;
  steps: JsonObject[];
  document: JsonValue;
  style: JsonStyle;
  json: string;
  before: string;
  after: string;
  /** The complete answer, when it is not built from the parts. */
  text?: string;
  finishReason?: string;
  isCut?: boolean;
  isRepaired?: boolean;
}

/** A typical defect in a model's answer. */
export interface Defect {
  readonly name: string;
  /** Two defects of the same kind exclude each other. */
  readonly kind: string;
  /** The stage of building; errors of later stages hide those of earlier ones. */
  readonly stage: "steps" | "form" | "wrapper" | "style" | "text" | "end" | "around" | "finish";
  /** Changes the draft; false when there is nothing to change. */
  readonly apply: (draft: Draft) => boolean | undefined;
  /** Code of the error that refuses the answer. Absent: the answer is read. */
  readonly code?: DiagnosticCode;
  /** Code of an additional warning. */
  readonly warning?: DiagnosticCode;
  /** True when only the order of the steps changes. */
  readonly reorders?: boolean;
  /** True for a defect that only applies to a document with steps. */
  readonly needsPlan?: boolean;
}

const isTextArgument = (value: JsonValue): value is string =>
  typeof value === "string" && !/<<|\n/.test(value);

/** Replaces a literal text of a step by another value. */
const insteadOfText = (value: string) => (draft: Draft) => {
  for (const step of draft.steps) {
    const args = step["arguments"];
    const name =
      isJsonObject(args) &&
      Object.keys(args).find((key) => key !== "style" && isTextArgument(args[key] ?? null));
    if (!name || !isJsonObject(args)) continue;
    step["arguments"] = { ...args, [name]: value };
    return true;
  }
  return false;
};

/** Replaces a reference to an earlier step by another text. */
const insteadOfReference = (print: (root: string, path: string) => string) => (draft: Draft) => {
  for (const step of draft.steps) {
    const args = step["arguments"];
    if (!isJsonObject(args)) continue;
    for (const [name, value] of Object.entries(args)) {
      const match = typeof value === "string" ? /^<<(\w+)(\.\w+)>>$/.exec(value) : null;
      if (!match?.[1] || !match[2]) continue;
      step["arguments"] = { ...args, [name]: print(match[1], match[2]) };
      return true;
    }
  }
  return false;
};

const withFirstTool = (rename: (tool: string) => string) => (draft: Draft) => {
  const [first] = draft.steps;
  if (typeof first?.["tool"] !== "string") return false;
  first["tool"] = rename(first["tool"]);
  return true;
};

const withArguments = (change: (args: JsonObject, draft: Draft) => JsonValue) => (draft: Draft) => {
  let hasAny = false;
  for (const step of draft.steps) {
    if (!isJsonObject(step["arguments"])) continue;
    step["arguments"] = change(step["arguments"], draft);
    hasAny = true;
  }
  return hasAny;
};

const placeholder = (value: string): Defect => ({
  name: `the placeholder ${value}`,
  kind: "placeholder",
  stage: "steps",
  apply: insteadOfText(value),
  code: "ARGUMENT_PLACEHOLDER",
});
const inStep = (name: string, kind: string, apply: Defect["apply"], rest: Partial<Defect> = {}): Defect => ({
  name,
  kind,
  stage: "steps",
  apply,
  ...rest,
});
const snakeCase = (name: string) =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replace(/\/read$/, "/reads");

/** Defects inside steps. */
export const STEP_DEFECTS: readonly Defect[] = [
  ...[
    "<author_id>",
    "PLACEHOLDER_ID",
    "extracted",
    "YOUR_API_KEY",
    "user@example.com",
    "[Your Name]",
    "...",
  ].map(placeholder),
  inStep(
    "a placeholder for a reference",
    "reference",
    insteadOfReference(() => "<the_id>"),
    { code: "ARGUMENT_PLACEHOLDER" },
  ),
  inStep(
    "a reference without signs",
    "reference",
    insteadOfReference((root, path) => root + path),
    { code: "REFERENCE_SPELLING" },
  ),
  inStep(
    "a reference to a step that is not there",
    "reference",
    insteadOfReference((_, path) => `<<nobody${path}>>`),
    { code: "REFERENCE_UNKNOWN" },
  ),
  inStep(
    "references in braces",
    "reference",
    insteadOfReference((root, path) => `{{${root}${path}}}`),
  ),
  inStep(
    "references with $ref",
    "reference",
    insteadOfReference((root, path) => `$ref:${root}${path}`),
  ),
  inStep(
    "a tool in another case",
    "tool",
    withFirstTool((tool) => tool[0]?.toUpperCase() + tool.slice(1)),
    { code: "TOOL_UNKNOWN" },
  ),
  inStep(
    "a tool of nearly that name",
    "tool",
    withFirstTool((tool) => (tool === "summarize" ? "summarise" : snakeCase(tool))),
    { code: "TOOL_UNKNOWN" },
  ),
  inStep(
    "a tool that two servers have",
    "tool",
    (draft) => String(draft.steps[0]?.["tool"]).endsWith("/read") && withFirstTool(() => "read")(draft),
    { code: "TOOL_AMBIGUOUS" },
  ),
  inStep(
    "arguments as text",
    "arguments",
    withArguments((args) => JSON.stringify(args)),
  ),
  inStep(
    "arguments as a text of a text",
    "arguments",
    withArguments((args) => JSON.stringify(JSON.stringify(args))),
  ),
  inStep(
    "arguments as text with a comma too many",
    "arguments",
    withArguments((args, draft) => {
      if (Object.keys(args).length === 0) return "{}";
      draft.isRepaired = true;
      return JSON.stringify(args).replace(/\}$/, ",}");
    }),
  ),
  inStep(
    "words about each step",
    "words",
    (draft) => {
      draft.steps = draft.steps.map((step, index) => ({
        step: index + 1,
        description: `It's "step" {${index}}`,
        ...step,
      }));
      return true;
    },
    { warning: "FIELD_IGNORED" },
  ),
  inStep("null for what is not there", "words", (draft) => {
    draft.steps = draft.steps.map((step) => ({ when: null, forEach: null, retry: null, ...step }));
    return true;
  }),
  inStep("one dependency as text", "dependencies", (draft) => {
    const steps = draft.steps.filter(({ dependsOn }) => Array.isArray(dependsOn) && dependsOn.length === 1);
    for (const step of steps) step["dependsOn"] = String(step["dependsOn"]);
    return steps.length > 0;
  }),
];
