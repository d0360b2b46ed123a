import type { DiagnosticCode, JsonObject, JsonValue } from "@planwright/plan";
import { type JsonStyle, printJson } from "./json-style.ts";
import type { Defect, Draft } from "./plan-defects.ts";

const form = (
  name: string,
  toDocument: (draft: Draft) => JsonValue | undefined,
  rest: Partial<Defect> = {},
): Defect => ({
  name,
  kind: "form",
  stage: "form",
  apply: (draft) => {
    const document = toDocument(draft);
    if (document === undefined) return false;
    draft.document = document;
    return true;
  },
  ...rest,
});

const renamed = (step: JsonObject, names: Record<string, string>) =>
  Object.fromEntries(Object.entries(step).map(([name, value]) => [names[name] ?? name, value]));
const toolChaining = (steps: readonly JsonObject[]) =>
  steps.map((step) => renamed(step, { tool: "name", arguments: "parameters" }));
const idsOf = (steps: readonly JsonObject[]) => steps.map(({ id }) => id ?? null);

/** The form of the steps. */
export const FORM_DEFECTS: readonly Defect[] = [
  form("tools and an order", ({ steps }) => ({ tools: toolChaining(steps), executionOrder: idsOf(steps) })),
  form(
    "an order that contradicts the dependencies",
    ({ steps, base }) =>
      base.steps.some(({ dependsOn }) => dependsOn.length > 0)
        ? { tools: toolChaining(steps), executionOrder: idsOf(steps).toReversed() }
        : undefined,
    { warning: "ORDER_INVALID", reorders: true },
  ),
  form("a list", ({ steps }) => steps),
  form("calls with other names", ({ steps }) => ({
    calls: steps.map((step) =>
      renamed(step, { id: "callId", tool: "toolName", arguments: "args", dependsOn: "after" }),
    ),
  })),
  form("calls as a provider writes them", ({ steps }) => ({
    tool_calls: steps.map((step) => {
      const { tool, arguments: args, ...rest } = step;
      if (tool === undefined) return step;
      const text = typeof args === "string" ? args : JSON.stringify(args);
      return { ...rest, type: "function", function: { name: tool, arguments: text } };
    }),
  })),
  form("steps as text", ({ steps }) => ({ steps: JSON.stringify(steps) })),
  form("no steps", () => ({ steps: [] }), { code: "PLAN_EMPTY" }),
  form("what is missing instead", () => ({ steps: [], missing: "the address of Alice" }), {
    code: "ANSWER_ASKS",
  }),
  form("another object instead", () => ({ answer: 42, sources: ["a"] }), { code: "PLAN_SHAPE" }),
];

const wrapper = (
  name: string,
  wrap: (document: JsonValue) => JsonValue,
  rest: Partial<Defect> = {},
): Defect => ({
  name,
  kind: "wrapper",
  stage: "wrapper",
  needsPlan: true,
  apply: (draft) => {
    draft.document = wrap(draft.document);
    return undefined;
  },
  ...rest,
});

/** Wrappers around the document, as JSON. */
export const WRAPPER_DEFECTS: readonly Defect[] = [
  wrapper("a plan in a plan", (document) => ({ plan: { plan: document } })),
  wrapper("an unknown wrapper", (document) => ({ blog_creation_plan: document })),
  wrapper(
    "thoughts beside the plan",
    (document) => ({ thought: 'First {"a"}, then.', confidence: 0.9, plan: document }),
    { warning: "FIELD_IGNORED" },
  ),
  wrapper("a plan as text", (document) => ({ plan: JSON.stringify(document, null, 2) })),
  wrapper("a list around it", (document) => [document]),
];

const style = (name: string, kind: string, own: JsonStyle): Defect => ({
  name,
  kind,
  stage: "style",
  apply: (draft) => {
    draft.style = { ...draft.style, ...own };
    return printJson(draft.document, draft.style) !== printJson(draft.document, {});
  },
});

/** The style of the JSON. */
export const STYLE_DEFECTS: readonly Defect[] = [
  style("indented", "space", { indent: true }),
  style("single quotes", "quotes", { quotes: "single" }),
  style("single quotes, apostrophes as they are", "quotes", { quotes: "single-raw" }),
  style("curly quotes", "quotes", { quotes: "curly" }),
  style("trailing commas", "commas", { trailingCommas: true }),
  style("missing commas", "commas", { noCommas: true }),
  style("comments of a line", "comments", { comments: "//" }),
  style("comments in a line", "comments", { comments: "/*" }),
  style("comments of Python", "comments", { comments: "#" }),
  style("bare names", "names", { bareNames: true }),
  style("words of Python", "words of Python", { pythonWords: true }),
  style("line breaks inside texts", "lines", { rawLines: true }),
];

const text = (name: string, change: (draft: Draft) => string | undefined): Defect => ({
  name,
  kind: "text",
  stage: "text",
  apply: (draft) => {
    const json = change(draft);
    if (json === undefined) return false;
    draft.json = json;
    return true;
  },
});

/** The JSON as a text. */
export const TEXT_DEFECTS: readonly Defect[] = [
  text("JSON in JSON", ({ json }) => JSON.stringify(json)),
  text("JSON in JSON in JSON", ({ json }) => JSON.stringify(JSON.stringify(json))),
  text("a plan as text in the same style", ({ json }) => JSON.stringify({ plan: json })),
  // Without its quotes the text would continue after a comment, and single quotes need no backslash.
  text("escaped quotes", ({ json, style: { comments, quotes } }) =>
    comments || quotes ? undefined : JSON.stringify(json).slice(1, -1),
  ),
];

const cut = (name: string, lengthOf: (json: string) => number): Defect => ({
  name,
  kind: "end",
  stage: "end",
  code: "ANSWER_TRUNCATED",
  apply: (draft) => {
    draft.json = draft.json.slice(0, lengthOf(draft.json));
    draft.isCut = true;
    return true;
  },
});

/** The end of the answer. */
export const END_DEFECTS: readonly Defect[] = [
  cut("cut before the last bracket", (json) => Math.max(json.lastIndexOf("}"), json.lastIndexOf("]"))),
  cut("cut in the middle", (json) => Math.floor(json.length * 0.6)),
  cut("cut near the beginning", () => 12),
];

const around = (
  name: string,
  kind: string,
  change: (draft: Draft) => boolean | undefined,
  rest: Partial<Defect> = {},
): Defect => ({
  name,
  kind,
  stage: "around",
  apply: change,
  ...rest,
});
const between =
  (before: string, after = "") =>
  (draft: Draft): undefined => {
    draft.before = before + draft.before;
    // Nothing follows after the cut, except the end of a fence that a model or proxy adds.
    if (!draft.isCut || after.includes("```")) draft.after += after;
  };
const otherPlan =
  '{"steps":[{"id":"all","tool":"listAuthors","arguments":{}},{"id":"again","tool":"listAuthors","arguments":{}}]}';
const PROSE = `Sure! Here's the plan {as asked} [draft 2], where {{a.b}} or <<a.b>> means "the field b of a":\n\n`;

/** Text around the JSON in the answer. */
export const AROUND_DEFECTS: readonly Defect[] = [
  around("a fence", "fence", between("```json\n", "\n```")),
  around("a fence without a language", "fence", between("```\n", "\n```\n")),
  around("a fence that never ends", "fence", between("```json\n")),
  around("tags", "fence", between("<plan>", "</plan>")),
  around("an assignment", "fence", between("const plan = ", ";\nawait run(plan); // {done}")),
  around(
    "the plan twice",
    "more",
    (draft) => (draft.isCut ? false : between(`${draft.json}\nOnce more:\n`)(draft)),
    { needsPlan: true },
  ),
  around("another plan", "more", (draft) => between(`${otherPlan}\nOr better:\n`)(draft), {
    code: "ANSWER_AMBIGUOUS",
    needsPlan: true,
  }),
  around(
    "a call that is not in it",
    "more",
    between("", ', {"id":"more","tool":"listAuthors","arguments":{}}]'),
    { code: "ANSWER_AMBIGUOUS", needsPlan: true },
  ),
  around(
    "a template",
    "more",
    between('{"steps": [{"id": "step_id", "tool": "tool_name", "arguments": {}}]}\n'),
    { warning: "ANSWER_AMBIGUOUS", needsPlan: true },
  ),
  around(
    "prose",
    "prose",
    between(PROSE, "\n\nThat's it [1]: don't run it twice {please}.\n[1] see the docs"),
  ),
  around(
    "JSON that is no plan",
    "prose",
    between('It gives {"_id": "a1", "ok": true} or [1, 2].\n', "\n{'result': 'x'}"),
  ),
  around(
    "the tools, repeated",
    "prose",
    between('{"tools":[{"name":"listAuthors","description":"d","inputSchema":{"type":"object"}}]}\n'),
  ),
  around("brackets too many", "prose", between("", "}]}")),
  around(
    "thinking with another plan",
    "thinking",
    between(`<think>\nMaybe ${otherPlan}? No, {"steps": [\n</think>\n\n`),
  ),
  around("thinking without its beginning", "thinking", between(`Maybe ${otherPlan}?\n</think>\n`)),
  around(
    "channels",
    "thinking",
    between(`<|channel|>analysis<|message|>${otherPlan}<|end|><|channel|>final<|message|>`, "<|return|>"),
  ),
  around(
    "thinking that never ends",
    "thinking",
    // A text that contains the tag would end it.
    (draft) => (draft.json.includes("</think>") ? false : between("<think>\nFirst, ")(draft)),
    { code: "ANSWER_TRUNCATED" },
  ),
];

const finish = (name: string, code: DiagnosticCode | undefined, own: Partial<Draft>): Defect => ({
  name,
  kind: "finish",
  stage: "finish",
  ...(code && { code }),
  apply: (draft) => {
    Object.assign(draft, own);
    return true;
  },
});

/** The provider's finish reason, or a different answer. */
export const FINISH_DEFECTS: readonly Defect[] = [
  finish("finish reason stop", undefined, { finishReason: "stop" }),
  finish("finish reason length", "ANSWER_TRUNCATED", { finishReason: "length" }),
  finish("finish reason MAX_TOKENS", "ANSWER_TRUNCATED", { finishReason: "MAX_TOKENS" }),
  finish("finish reason content_filter", "ANSWER_REFUSED", { finishReason: "content_filter" }),
  finish("a refusal", "ANSWER_REFUSED", {
    text: "I'm sorry, but I can't help with that request. See our policy [1].",
  }),
  finish("prose alone", "PLAN_NOT_JSON", { text: "Sure! First I create the author {Alice}, then her blog." }),
  finish("nothing", "PLAN_NOT_JSON", { text: " \n" }),
];
