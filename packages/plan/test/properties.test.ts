import { fc, test } from "@fast-check/vitest";
import {
  CodedError,
  type Condition,
  DIAGNOSTIC_CODES,
  evaluateCondition,
  type JsonValue,
  type PathSegment,
  parsePlan,
  planGraph,
  printPlan,
  printReference,
  resolveReferences,
  scanReferences,
  type ToolDescriptor,
  validateArguments,
  validatePlan,
} from "@planwright/plan";
import { expect } from "vitest";

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<JsonValue>;
const key = fc.oneof(
  fc.constantFrom("a", "b", "_id", "0", "1", "key with space", "x.y", '"', "]", ">>", ""),
  fc.string(),
);
const segment: fc.Arbitrary<PathSegment> = fc.oneof(
  key
    .filter((text) => !["__proto__", "constructor", "prototype"].includes(text))
    .map((text) => ({ type: "key" as const, key: text })),
  fc.nat(3).map((index) => ({ type: "index" as const, index })),
  fc.constant({ type: "all" as const }),
);
const path = fc.array(segment, { maxLength: 4 });
const root = fc.constantFrom("s1", "create-author", "t_2");
const reference = fc.record({ root, path });
const source = fc.oneof(
  json,
  fc.dictionary(
    key,
    fc.oneof(json, fc.array(fc.dictionary(key, json), { maxLength: 3 })),
  ) as fc.Arbitrary<JsonValue>,
);
const outputs = fc.dictionary(root, source, { noNullPrototype: true });

/** A literal implementation of following a path. */
function followLiterally(value: JsonValue, [first, ...rest]: readonly PathSegment[]): JsonValue | undefined {
  if (!first) return value;
  let here = value;
  if (typeof here === "string" && /^\s*[[{]/.test(here)) {
    try {
      here = JSON.parse(here) as JsonValue;
    } catch {
      return undefined;
    }
  }
  if (first.type === "all") {
    // One object is a list of one, and null an empty list.
    const list = here === null ? [] : Array.isArray(here) || typeof here !== "object" ? here : [here];
    if (!Array.isArray(list)) return undefined;
    const items = list.map((item) => followLiterally(item, rest));
    return items.every((item) => item !== undefined) ? (items as JsonValue[]) : undefined;
  }
  if (Array.isArray(here)) {
    const item = first.type === "index" ? here[first.index] : undefined;
    return item === undefined ? undefined : followLiterally(item, rest);
  }
  if (typeof here !== "object" || here === null) return undefined;
  const found = new Map(Object.entries(here)).get(first.type === "index" ? String(first.index) : first.key);
  const isFirst = first.type === "index" && first.index === 0;
  const next = found === undefined && isFirst ? here : found;
  return next === undefined ? undefined : followLiterally(next, rest);
}

function parsedText(value: JsonValue): JsonValue {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value) as JsonValue;
  } catch {
    return value;
  }
}

const asText = (value: JsonValue) => (typeof value === "string" ? value : JSON.stringify(value));

test.prop([reference])(
  "a printed reference is read as what was printed",
  ({ root: name, path: segments }) => {
    const [found, ...others] = scanReferences(printReference(name, segments));
    expect(others).toEqual([]);
    expect(found).toMatchObject({ root: name, path: segments, isWhole: true });
  },
);

test.prop([reference, outputs])(
  "a text that is only a reference resolves as in the literal implementation",
  (one, all) => {
    const start = Object.hasOwn(all, one.root) ? all[one.root] : undefined;
    const expected = start === undefined ? undefined : followLiterally(parsedText(start), one.path);
    const text = printReference(one.root, one.path);
    if (expected === undefined) expect(() => resolveReferences(text, { outputs: all })).toThrow(CodedError);
    else expect(resolveReferences(text, { outputs: all }).value).toEqual(expected);
  },
);

const literal = fc.string().filter((text) => !/[<{$\\>}]/.test(text));
test.prop([fc.array(fc.tuple(literal, reference), { maxLength: 5 }), literal, outputs])(
  "text with references is the text with each put in by hand",
  (parts, end, all) => {
    const text = parts.map(([before, one]) => before + printReference(one.root, one.path)).join("") + end;
    const policy = { onMissingField: "keep", onUnresolvedStep: "keep" } as const;
    const byHand = parts.map(([before, one]) => {
      const start = Object.hasOwn(all, one.root) ? all[one.root] : undefined;
      const found = start === undefined ? undefined : followLiterally(parsedText(start), one.path);
      return before + (found === undefined ? printReference(one.root, one.path) : asText(found));
    });
    const { value } = resolveReferences(`!${text}`, { outputs: all, policy });
    expect(value).toBe(`!${byHand.join("")}${end}`);
  },
);

test.prop([json])("a value without references resolves to an equal copy", (value) => {
  fc.pre(!/<<|\{\{|\$ref:/.test(JSON.stringify(value)));
  const resolved = resolveReferences(value, { outputs: {} }).value;
  expect(resolved).toEqual(value);
  if (typeof value === "object" && value !== null) expect(resolved).not.toBe(value);
});

const noise = fc.stringMatching(/^[<>{}\\$ref:ab.[\]"'0*\- ]*$/);
test.prop([noise, json])("scanning and resolving any text gives a value or a typed error", (text, output) => {
  for (const { text: found, start, end } of scanReferences(text)) expect(text.slice(start, end)).toBe(found);
  try {
    resolveReferences(text, { outputs: { a: output, b: 1 } });
  } catch (error) {
    expect(error).toBeInstanceOf(CodedError);
  }
});

const stepId = fc.constantFrom("a", "b", "c", "d", "e", "f");
const argument = fc.oneof(
  json,
  reference.map(({ path: segments }) => printReference("a", segments)),
  fc
    .tuple(stepId, path)
    .map(([name, segments]) => `text ${printReference(name, segments)} {{${name}}} \\<<x>>`),
  fc
    .tuple(stepId, fc.constantFrom("", "word", "a b_", "-"))
    .map(([name, before]) => `${before}\\\${${name}} \\@{${name}} \\{{${name}}}`),
  fc
    .tuple(stepId, fc.nat(2))
    .map(([name, depth]) =>
      Array.from({ length: depth }).reduce<JsonValue>((inner) => ({ $ref: inner }), `<<${name}>>`),
    ),
);
const options = {
  dependsOn: fc.option(fc.array(stepId, { maxLength: 2 }), { nil: undefined }),
  timeoutMs: fc.option(fc.integer({ min: 1, max: 1000 }), { nil: undefined }),
  when: fc.option(
    fc.oneof(
      fc.record({ eq: fc.tuple(argument, argument) }),
      fc.record({ not: fc.record({ status: fc.tuple(stepId, fc.constantFrom("FAILED", "COMPLETED")) }) }),
    ),
    { nil: undefined },
  ),
};
const step = fc.oneof(
  fc.record({
    tool: fc.constantFrom("t", "u", "s/v"),
    arguments: fc.dictionary(key, argument, { maxKeys: 3 }),
    ...options,
  }),
  fc.record({
    forEach: fc.record({
      items: fc.oneof(
        fc.array(json, { maxLength: 3 }),
        stepId.map((name) => `{{${name}.list}}`),
      ),
      do: fc.record({
        tool: fc.constantFrom("t", "u"),
        arguments: fc.dictionary(key, argument, { maxKeys: 2 }),
      }),
    }),
    ...options,
  }),
);
const plan = fc.array(step, { minLength: 1, maxLength: 6 }).map((steps) => ({
  steps: steps.map((one, index) => ({ id: "abcdef"[index], ...JSON.parse(JSON.stringify(one)) })),
}));
const lenient = { onCycle: "run-together", onAbsentDependency: "ignore", onUnresolvedStep: "keep" } as const;

test.prop([plan])("reading a printed plan returns the plan, and reading twice changes nothing", (input) => {
  const parsed = parsePlan(input, { policy: lenient });
  fc.pre(parsed.ok);
  if (!parsed.ok) return;
  expect(JSON.parse(printPlan(parsed.plan))).toEqual(JSON.parse(JSON.stringify(parsed.plan)));
  const again = parsePlan(printPlan(parsed.plan));
  expect(again.ok && again.plan).toEqual(parsed.plan);
  expect(again.ok && printPlan(again.plan)).toBe(printPlan(parsed.plan));
  planGraph(parsed.plan);
});

const words = fc.constantFrom(
  "steps",
  "tools",
  "calls",
  "id",
  "tool",
  "name",
  "arguments",
  "parameters",
  "dependsOn",
  "after",
  "forEach",
  "items",
  "do",
  "when",
  "all",
  "not",
  "status",
  "eq",
  "retry",
  "policy",
  "limits",
  "profile",
  "outputs",
  "output_steps",
  "executionOrder",
  "function",
  "type",
  "key",
  "as",
  "formatVersion",
);
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<unknown>(
      null,
      0,
      1,
      true,
      "",
      "a",
      "t",
      "<<a.b>>",
      "{{t}}",
      "$ref:a",
      "execute_tool_plan",
      "<x>",
      "[]",
      '{"a":1}',
      "parallel",
      "tool-planning",
    ),
    fc.string(),
    fc.array(tie("tree"), { maxLength: 4 }),
    fc.dictionary(fc.oneof(words, key), tie("tree"), { maxKeys: 5 }),
  ),
}));
const tools: ToolDescriptor[] = [
  {
    name: "t",
    inputSchema: { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
    outputSchema: { type: "object", properties: { b: { type: "number" } } },
  },
  { name: "a", _meta: { "x-orchestration": { depends_on: [{ tool: "t", required_fields: ["z"] }] } } },
];

test.prop([
  fc.oneof(tree, fc.record({ steps: fc.array(tree, { maxLength: 4 }) })),
  fc.constantFrom("error", "ignore", "insert"),
])("parsePlan and validatePlan answer anything with codes of the list", (input, onAbsentDependency) => {
  const codes = new Set<string>(DIAGNOSTIC_CODES);
  const parsed = parsePlan(input, { tools, policy: { onAbsentDependency } as const });
  for (const { code, message } of parsed.diagnostics) {
    expect(codes.has(code)).toBe(true);
    expect(message).not.toBe("");
  }
  expect(parsed.ok).toBe(parsed.diagnostics.every(({ severity }) => severity !== "error"));
  validatePlan(input as never, tools);
  parsePlan(typeof input === "string" ? input : JSON.stringify(input));
});

test.prop([json, json])(
  "any JSON as a condition or a schema gives an answer or a typed error",
  (value, args) => {
    try {
      evaluateCondition(value as unknown as Condition, { outputs: { a: args } });
    } catch (error) {
      expect(error).toBeInstanceOf(CodedError);
    }
    validateArguments({ name: "t", inputSchema: value as never }, args as never);
  },
);
