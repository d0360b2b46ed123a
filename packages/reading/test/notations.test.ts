import { fc, test } from "@fast-check/vitest";
import {
  argumentsOfStep,
  type JsonValue,
  parsePlan,
  printPlan,
  resolveReferences,
  type ToolDescriptor,
} from "@planwright/plan";
import { readModelAnswer } from "@planwright/reading";
import { describe, expect } from "vitest";
import harmless from "./data/harmless-texts.json" with { type: "json" };

const take = { type: "object", properties: { value: {} } };
const tools: ToolDescriptor[] = ["find", "look", "send"].map((name) => ({
  name,
  inputSchema: take,
  annotations: { readOnlyHint: true },
}));

/** A plan of three steps; the last one gets a value. */
function planWith(value: unknown, ids: readonly unknown[] = ["s1", "s2", "s3"]) {
  const steps = [{ tool: "find" }, { tool: "look" }, { tool: "send", arguments: { value } }];
  return steps.map((step, index) => ({ ...(ids[index] !== undefined && { id: ids[index] }), ...step }));
}

interface Outcome {
  value?: JsonValue | undefined;
  codes: string[];
}

function outcomeOf(input: unknown, request?: string): Outcome {
  const read =
    request === undefined
      ? parsePlan(input)
      : readModelAnswer(JSON.stringify(input), { tools, query: request });
  const codes = read.diagnostics
    .filter(({ code }) => code !== "STEP_ID_RENAMED" && code !== "ARGUMENT_UNSOURCED")
    .map(({ code, severity }) => `${severity} ${code}`);
  if (!read.ok) return { codes };
  expect(parsePlan(printPlan(read.plan)).ok && parsePlan(printPlan(read.plan))).toMatchObject({
    plan: read.plan,
  });
  const last = read.plan.steps.at(-1);
  return { value: last && "arguments" in last ? last.arguments["value"] : undefined, codes };
}

/** The possible forms of a literal text in a plan: in our own signs it stays escaped. */
function asText(text: string): string[] {
  return [text, `\\${text}`, text.replace("{{", "\\{{")];
}

const READ = ["warning REFERENCE_SPELLING"];

/** Text, its meaning, and the step ids for that meaning. */
const notations: [string, string, (readonly unknown[])?][] = [
  ["$s1.text", "<<s1.text>>"],
  ["$s1", "<<s1>>"],
  ["$1.text", "<<s1.text>>"],
  ["${1}", "<<s1>>"],
  ["${1.text}", "<<s1.text>>"],
  ["${s1.x}", "<<s1.x>>"],
  ["$var1.text$", "<<s1.text>>"],
  ["$var1.text$", "<<var1.text>>", ["$var1", "$var2", "$var3"]],
  ["#E1", "<<s1>>"],
  ["#E1", "<<E1>>", ["#E1", "#E2", "#E3"]],
  ["@s1", "<<s1>>"],
  ["@s1.text", "<<s1.text>>"],
  ["=s1.text", "<<s1.text>>"],
  ["<GENERATED>-0", "<<s0>>", [0, 1, 2]],
  ["<resource>-1", "<<s1>>", [0, 1, 2]],
  ["<GENERATED>-0", "<<find>>", []],
  ["[[s1.text]]", "<<s1.text>>"],
  ["%s1.text%", "<<s1.text>>"],
  ["{s1.text}", "<<s1.text>>"],
  ["<s1.text>", "<<s1.text>>"],
  ["<s1.text>>", "<<s1.text>>"],
  ['{{ $node["s1"].json.text }}', "<<s1.text>>"],
  ["{{ $('s1').item.json.text }}", "<<s1.text>>"],
  ["{{steps.s1.text}}", "<<s1.text>>"],
  ["{{1.text}}", "<<s1.text>>"],
  ["{{1__text}}", "<<s1.text>>"],
  ["{{step1.text}}", "<<s1.text>>"],
  ["${{ steps.s1.outputs.x }}", "<<s1.x>>"],
  ["${steps.s1.output.x}", "<<s1.x>>"],
  ["{{steps.s1.outputs.parameters.x}}", "<<s1.x>>"],
  ["$.s1.x", "<<s1.x>>"],
  ["$.steps.s1.result.x", "<<s1.x>>"],
  ["$.steps[0].x", "<<s1.x>>"],
  ["$['s1']['x y']", '<<s1["x y"]>>'],
  ["@{outputs('s1')?['x']}", "<<s1.x>>"],
  ["${find.text}", "<<s1.text>>"],
  ["$find.text", "<<s1.text>>"],
  ["${s1[0].a}", "<<s1[0].a>>"],
  ["${s1.items[*].a}", "<<s1.items[*].a>>"],
  ["<<1.text>>", "<<s1.text>>"],
  ["<<step 1.text>>", "<<s1.text>>"],
  ["<<#1.text>>", "<<s1.text>>"],
  ["<<步骤1.text>>", "<<s1.text>>", ["步骤1", "步骤2", "步骤3"]],
  ["<<steps.s1.text>>", "<<s1.text>>"],
  ["<<functions.find:0.text>>", "<<functions_find_0.text>>", ["functions.find:0", "b", "c"]],
  ["$ref:1.text", "<<s1.text>>"],
  ["$ref:步骤1.text", "<<s1.text>>", ["步骤1", "步骤2", "步骤3"]],
];

describe.each(notations)("%s", (text, expected, ids = ["s1", "s2", "s3"]) => {
  test("is a reference when it is the complete text", () => {
    expect(outcomeOf(planWith(text, ids))).toEqual({ value: expected, codes: READ });
  });

  test("is a reference or an error inside a text", () => {
    for (const [before, after] of [
      ["See ", ""],
      ["See ", "."],
      ["(", ")"],
      ["a\n", " b"],
    ]) {
      const inside = `${before}${text}${after}`;
      const found = outcomeOf(planWith(inside, ids));
      expect([`${before}${expected}${after}`, undefined]).toContain(found.value);
      expect(found.codes.length).toBeGreaterThan(0);
    }
  });

  test("is text when the request contains it literally", () => {
    const { value, codes } = outcomeOf(planWith(text, ids), `Send the text ${text} to all`);
    expect(value).toBeOneOf(asText(text));
    expect(codes).toEqual([]);
  });

  test("is text when it is escaped", () => {
    const { value, codes } = outcomeOf(planWith(`\\${text}`, ids));
    expect(value).toBeOneOf(asText(text));
    expect(codes).toEqual([]);
  });
});

test("the previous step is meant when it is unambiguous: the only dependency, or the first step", () => {
  const [find, , send] = planWith("{{$json.text}}");
  expect(outcomeOf([find, send])).toEqual({ value: "<<s1.text>>", codes: READ });
  const waiting = planWith("Dear {{ $json.text }}").map((step) => ({
    ...step,
    ...(step.id === "s3" && { after: ["s1"] }),
  }));
  expect(outcomeOf(waiting)).toEqual({ value: "Dear <<s1.text>>", codes: READ });
  expect(outcomeOf(planWith("{{$json.text}}")).codes).toEqual(["error REFERENCE_SPELLING"]);
});

test.each([
  ["$9", "text"],
  ["See $9.", "text"],
  ["${nobody.x}", "text"],
  ["#E9", "text"],
  ["@nobody", "text"],
  ["{nobody.x}", "text"],
  ["[[nobody.x]]", "text"],
  ["%nobody.x%", "text"],
  ["=nobody.x", "text"],
  ["<GENERATED>-9", "text"],
  ["{{$nobody.text}}", "text"],
  ["$nobody.text$", "text"],
  ["<<9.text>>", "error REFERENCE_UNKNOWN"],
  ["<<步骤9>>", "error REFERENCE_UNKNOWN"],
  ["<<the author's id>>", "error REFERENCE_UNKNOWN"],
  ["see <<no one, really>> there", "error REFERENCE_UNKNOWN"],
])("%s, which names no step, is %s", (text, expected) => {
  const { value, codes } = outcomeOf(planWith(`${text}`));
  const isPlaceholder = codes.join() === "error ARGUMENT_PLACEHOLDER";
  if (expected === "text" && !isPlaceholder) expect({ value, codes }).toEqual({ value: text, codes: [] });
  else
    expect({ value, code: codes[0] }).toEqual({
      value: undefined,
      code: isPlaceholder ? codes[0] : expected,
    });
});

test.each([
  ["a tool of two steps", "${find.text}", ["a", "b", "c"], "find"],
  ["a position when ids have another order", "$1.text", ["s2", "s1", "s3"], "look"],
  ["a number when ids start from another number", "$1.text", ["s5", "s6", "s7"], "look"],
  ["the previous step, when several steps come before", "{{$json.text}}", ["a", "b", "c"], "look"],
  ["a task counted from 0 or 1", "<GENERATED>-1", ["s1", "s2", "s3"], "look"],
  ["0 when nothing is numbered from 0", "${0}", ["a", "b", "c"], "look"],
])("what can mean several things is an error: %s", (_, text, ids, second) => {
  const [first, , last] = planWith(text, ids);
  const input = [first, { id: ids[1], tool: second }, last];
  expect(outcomeOf(input).value).toBeUndefined();
  expect(outcomeOf(input, "Do it").value).toBeUndefined();
});

test.each([
  ["a word between signs of templates and shell", "Hi {alice}, echo $alice ${alice} [[alice]] %alice%"],
  ["a word that may be a name", "@alice"],
  ["an expression of another language", "${alice.text.toUpperCase() + 1}"],
  ["a filter", "{{ alice.text | upper }}"],
  ["arithmetic with a number", "1 << 2 >> 1"],
  ["a price that may be a position", "It costs $1"],
  ["a position among prices", "Pay $1 or $2.50"],
])("a doubt is an error, and nothing is changed: %s", (_, text) => {
  const { value, codes } = outcomeOf(planWith(text, ["alice", "bob", "carol"]));
  expect(value).toBeUndefined();
  expect(codes.every((code) => /^error REFERENCE_(?:SPELLING|MALFORMED)$/.test(code))).toBe(true);
});

test("a number after a dollar sign inside a text is a reference when the request is known and has no such number", () => {
  expect(outcomeOf(planWith("See $1"), "Look it up and send it")).toEqual({
    value: "See <<s1>>",
    codes: READ,
  });
  expect(outcomeOf(planWith("See $1"), "Say that it costs $100").value).toBe("See <<s1>>");
  expect(outcomeOf(planWith("It costs $1"), "Say that it costs $1")).toEqual({
    value: "It costs $1",
    codes: [],
  });
  expect(outcomeOf(planWith(["$1.text", "See $1"])).value).toEqual(["<<s1.text>>", "See <<s1>>"]);
});

test("a price in a step without earlier steps is text", () => {
  for (const text of ["$1", "It costs $1", "$1 each"]) {
    expect(outcomeOf([{ tool: "send", arguments: { value: text } }])).toEqual({ value: text, codes: [] });
  }
});

test("hashtags, mentions, tags and quantifiers with words stay text, even when a step has the word as its name", () => {
  for (const text of ["Sun #look @find", "<find>x</find>", "a{1} [[1]] #1 @2", "find@look.com", "{1}-{2}"]) {
    expect(outcomeOf(planWith(text, []))).toEqual({ value: text, codes: [] });
  }
});

test("conditions, loops and outputs are read in the same way", () => {
  const parsed = parsePlan({
    steps: [
      { id: 1, tool: "find" },
      {
        id: 2,
        forEach: {
          items: "$1.list",
          key: "${item.id}",
          do: { tool: "look", arguments: { value: "{item.id} of $1.total", tag: "an <item>", n: "$index" } },
        },
        when: { all: [{ gt: ["#E1.count", 0] }, { status: ["#E1", "COMPLETED"] }] },
        after: ["$1"],
      },
    ],
    outputs: { text: "Found {{1.total}}" },
  });
  if (!parsed.ok) expect.fail(JSON.stringify(parsed.diagnostics));
  expect(parsed.plan.steps[1]).toMatchObject({
    forEach: {
      items: "<<s1.list>>",
      key: "<<item.id>>",
      do: { arguments: { value: "<<item.id>> of <<s1.total>>", tag: "an <item>", n: "<<index>>" } },
    },
    when: { all: [{ gt: ["<<s1.count>>", 0] }, { status: ["s1", "COMPLETED"] }] },
    dependsOn: ["s1"],
  });
  expect(parsed.plan.outputs).toEqual({ text: "Found <<s1.total>>" });
});

test("the plan stores literal texts, so that reading it again changes nothing", () => {
  const read = readModelAnswer(JSON.stringify(planWith("Pay $1 to {{bob}}, \\$2")), {
    tools,
    query: "Look it up, then send: Pay $1 to {{bob}}",
  });
  if (!read.ok) expect.fail(JSON.stringify(read.diagnostics));
  expect(read.plan.literals).toEqual(["$1", "$2"]);
  const again = parsePlan(printPlan(read.plan));
  expect(again).toMatchObject({ ok: true, plan: read.plan, diagnostics: [] });
  const last = read.plan.steps.at(-1);
  expect(last && "arguments" in last && last.arguments).toEqual({ value: "Pay $1 to \\{{bob}}, $2" });
});

test("texts of given steps are not read again", () => {
  const read = readModelAnswer(
    JSON.stringify([{ id: "s2", tool: "send", arguments: { value: "<<s1.x>>" } }]),
    {
      tools,
      query: "Go on",
      given: [
        { id: "s0", tool: "find", arguments: {}, dependsOn: [] },
        { id: "s1", tool: "look", arguments: { value: "$s0.x" }, dependsOn: [] },
      ],
    },
  );
  if (!read.ok) expect.fail(JSON.stringify(read.diagnostics));
  expect(read.plan.steps[1]).toMatchObject({ arguments: { value: "$s0.x" } });
});

const word = ["alpha", "beta", "gamma"];
test.each(harmless)("%j stays text when it names nothing in the plan", (text) => {
  const isPlaceholder = (codes: string[]) => codes.join() === "error ARGUMENT_PLACEHOLDER";
  const alone = outcomeOf(planWith(text, word));
  if (!isPlaceholder(alone.codes)) expect(alone).toEqual({ value: text, codes: [] });
  const inside = `Say: ${text} and more`;
  expect(outcomeOf(planWith(inside, word))).toEqual({ value: inside, codes: [] });
  expect(outcomeOf(planWith(`${text}\n${text}`, word)).codes).toEqual([]);
});

const step = fc.constantFrom("first", "second", "s1", "s2", "t-1", "1", "step 2", "#E1");
const field = fc.array(fc.constantFrom("text", "items", "a_b"), { maxLength: 2 });
const write: ((root: string, path: string) => string)[] = [
  (root, path) => `$${root}${path}`,
  (root, path) => `\${${root}${path}}`,
  (root, path) => `\${{ steps.${root}.outputs${path} }}`,
  (root, path) => `{{${root}${path}}}`,
  (root, path) => `{{steps.${root}.output${path}}}`,
  (root, path) => `{${root}${path}}`,
  (root, path) => `[[${root}${path}]]`,
  (root, path) => `%${root}${path}%`,
  (root, path) => `<${root}${path}>`,
  (root, path) => `<<${root}${path}>>`,
  (root, path) => `<< ${root}${path} >>`,
  (root, path) => `@${root}${path}`,
  (root, path) => `#${root}${path}`,
  (root, path) => `=${root}${path}`,
  (root, path) => `$.${root}${path}`,
  (root, path) => `$ref:${root}${path}`,
];

test.prop([
  fc.uniqueArray(step, { minLength: 2, maxLength: 3 }),
  field,
  fc.constantFrom(...write),
  fc.constantFrom("", "See ", "(", "x: "),
  fc.constantFrom("", ".", " now", ")"),
])(
  "in every notation a step, or a field of it, is a reference or an error, never text",
  (ids, fields, notation, before, after) => {
    const [root = ""] = ids;
    const path = fields.map((name) => `.${name}`).join("");
    const isAlone = before === "" && after === "";
    // Without a field, a name is literal inside texts with tags, hashtags, quantifiers and formulas, and so
    // is a number in %5%.
    fc.pre(fields.length > 0 || isAlone || /^(?:\$|<<|\{\{)/.test(notation("", "")));
    fc.pre(!/[ #]/.test(root) || /[{[<]/.test(notation("", "")));
    const text = `${before}${notation(root, path)}${after}`;
    const steps = [
      ...ids.map((id) => ({ id, tool: `tool_${id.length}` })),
      { id: "last", tool: "send", arguments: { value: text } },
    ];
    const canonical = parsePlan(ids.map((id) => ({ id, tool: `tool_${id.length}` })));
    const id = canonical.ok ? canonical.plan.steps[0]?.id : "";
    const read = outcomeOf(steps);
    if (read.value !== undefined) expect(read.value).toBe(`${before}<<${id}${path}>>${after}`);
    else expect(read.codes.some((code) => code.startsWith("error"))).toBe(true);
  },
);

/** A step with the name of what the text of another language is about, and a step that gets the value. */
const readBeside = (id: string, value: unknown) =>
  parsePlan({
    steps: [
      { id, tool: "find" },
      { id: "last", tool: "send", dependsOn: [id], arguments: { value } },
    ],
  });

/** The value that a tool gets when no reference is in it. */
function sentBeside(id: string, value: unknown): JsonValue | undefined {
  const read = readBeside(id, value);
  if (!read.ok) return undefined;
  const again = parsePlan(printPlan(read.plan));
  expect(again).toMatchObject({ ok: true, plan: read.plan });
  const args = argumentsOfStep(read.plan.steps[1]!);
  return resolveReferences(args["value"] ?? null, { outputs: {} }).value;
}

test.each<[string, string, unknown]>([
  ["a stage", "customers", [{ $lookup: { from: "customers", as: "customers" } }, { $unwind: "$customers" }]],
  ["a group", "orders", { $group: { _id: "$orders", n: { $sum: 1 }, all: { $push: "$orders.total" } } }],
  ["an expression", "total", { $match: { $expr: { $gt: ["$total", "$$limit"] } } }],
  ["a variable", "total", { $let: { vars: { total: 1 }, in: "$$total" } }],
  ["a new root", "author", [{ $replaceRoot: { newRoot: "$author.name" } }]],
  ["a pipeline as text", "customers", '[{"$unwind":"$customers"},{"$sort":{"n":1}}]'],
  ["a pipeline as code", "customers", "db.orders.aggregate([{ $unwind: '$customers' }])"],
  ["an expression of a workflow", "look", { parameters: { to: "={{ $json.email }}" } }],
  ["a text of a workflow", "look", "=Dear {{ $json.name }}, you are {{ $json.age }}"],
  ["a workflow as text", "look", '{"to":"={{ $json.email }}","cc":"={{ $input.item.json.cc }}"}'],
  ["secrets of a CI file", "find", "run: echo ${{ secrets.TOKEN }} ${{ github.sha }}"],
  ["one secret", "find", "${{ secrets.TOKEN }}"],
  ["a variable after a letter", "find", "tag: v${{ github.ref_name }}"],
  ["a condition of a CI file", "find", "if: ${{ github.event_name == 'push' }} ${{ matrix.os }}"],
  ["a file of CI with other contexts", "find", "image: app:${{ parameters.tag }} on ${{ pool.name }}"],
  ["a loop", "find", "{{#each users}}{{name}}, {{address.city}}{{/each}}"],
  ["a partial", "find", "{{> header}}{{title}}"],
  ["a block", "find", "{% for u in users %}{{ u.name }} {{ user.email }}{% endfor %}"],
  ["a filter", "find", "{{ title | upper }} by {{ byline }}"],
  ["a chart", "find", "{{- if .Values.on }}image: {{ .Values.image }}{{ end }}"],
  ["shell", "find", 'for f in $(ls); do echo "$HOME/${f}"; done'],
  ["jq", "find", ".items[] | select(.id == $id) | {name, id}"],
])("%s of another language stays text", (_what, id, value) => {
  expect(sentBeside(id, value)).toEqual(value);
});

test.each<[string, string, unknown, string]>([
  ["a numbered step under an operator", "s1", { $match: { _id: "$s1._id" } }, "REFERENCE_SPELLING"],
  [
    "a named step in an expression of a workflow",
    "look",
    '={{ $node["look"].json.to }}',
    "REFERENCE_SPELLING",
  ],
  ["a step in a CI file", "build", "${{ secrets.T }} ${{ steps.build.outputs.x }}", "REFERENCE_SPELLING"],
  ["a variable among others", "customers", "echo $HOME $customers.name", "REFERENCE_SPELLING"],
  ["a template literal among others", "user", "`${host}/u/${user.id}`", "REFERENCE_SPELLING"],
  ["a word for the previous step", "look", "Dear {first} {last}", "REFERENCE_SPELLING"],
  ["a variable for the previous step", "look", "prev=1; echo $prev", "REFERENCE_SPELLING"],
  ["a variable of a template alone", "find", "Hi {{ user.name }}", "REFERENCE_UNKNOWN"],
  ["a variable that is the complete text", "find", "${{ nobody.name }}", "REFERENCE_UNKNOWN"],
  ["brackets around nothing known", "find", "see <<nobody.name>>", "REFERENCE_UNKNOWN"],
  ["a reference without brackets", "find", "$ref:nobody.name", "REFERENCE_UNKNOWN"],
])("%s is an error, whose remedy is to write it literally", (_what, id, value, code) => {
  const { ok, diagnostics } = readBeside(id, value);
  expect([ok, diagnostics[0]?.code]).toEqual([false, code]);
  const escape =
    /or (\\\S.*) for the characters themselves/.exec(diagnostics[0]?.message ?? "")?.[1] ?? "none";
  const written = JSON.parse(
    JSON.stringify(value).replaceAll(JSON.stringify(escape.slice(1)).slice(1, -1), () =>
      JSON.stringify(escape).slice(1, -1),
    ),
  );
  if (diagnostics.length === 1) expect(sentBeside(id, written)).toEqual(value);
});

test.each<[string, string, unknown, unknown]>([
  ["the name of a step alone", "customers", "$customers", "<<customers>>"],
  ["a field of a step in words", "author", "Dear $author.name", "Dear <<author.name>>"],
  ["a step under a key without an operator", "author", { price$: "$author.id" }, { price$: "<<author.id>>" }],
  [
    "our brackets under an operator",
    "author",
    { $match: { _id: "<<author._id>>" } },
    { $match: { _id: "<<author._id>>" } },
  ],
  [
    "our brackets in a template",
    "author",
    "{% if x %}{{ author.name }}{% endif %}",
    "{% if x %}<<author.name>>{% endif %}",
  ],
  ["a step of a CI file alone", "build", "See ${{ steps.build.outputs.x }}", "See <<build.x>>"],
  ["the previous step", "look", "Dear {{ $json.name }}", "Dear <<look.name>>"],
  ["a misspelt step", "author", "a ${{ athor.name }}", undefined],
  ["a misspelt step in a template", "author", "{% if x %}{{ athor.name }}{% endif %}", undefined],
])("%s is still read", (_what, id, value, expected) => {
  const read = readBeside(id, value);
  expect(read.ok ? argumentsOfStep(read.plan.steps[1]!)["value"] : undefined).toEqual(expected);
});

test("text that names a step and stays text has a warning with the reference", () => {
  expect(readBeside("customers", [{ $unwind: "$customers" }]).diagnostics).toEqual([
    {
      code: "REFERENCE_SPELLING",
      severity: "warning",
      stepId: "last",
      path: "steps[1].arguments.value[0].$unwind",
      message:
        "step last: $customers stays text, because it belongs to a query in another language; write <<customers>> for the output of that step",
      suggestion: "<<customers>>",
    },
  ]);
});

test("a number after a dollar sign in a database statement is not read as a step without asking", () => {
  const value = "SELECT name FROM users WHERE id = $1";
  expect(outcomeOf(planWith(value), "Find the users and send them").codes).toEqual([
    "error REFERENCE_SPELLING",
  ]);
  expect(outcomeOf(planWith(value.replace("$", "\\$")), "Find the users and send them").value).toBe(value);
});

test("a model cannot declare that its own reference is text", () => {
  const steps = [
    { id: "s1", tool: "find", arguments: {} },
    { id: "s2", tool: "find", arguments: { text: "See ${s1.text}" } },
  ];
  const answer = JSON.stringify({ steps, literals: ["${s1.text}"] });
  const read = readModelAnswer(answer, { tools: [{ name: "find" }], query: "Find it and tell about it" });
  const sent = read.ok ? read.plan.steps.map(argumentsOfStep).at(-1) : undefined;
  expect({ ok: read.ok, sent }).toEqual({ ok: true, sent: { text: "See <<s1.text>>" } });
});
