import {
  type Diagnostic,
  PlanSchema,
  parsePlan,
  planGraph,
  printPlan,
  type ToolDescriptor,
  validatePlan,
} from "@planwright/plan";
import { readModelAnswer } from "@planwright/reading";
import { describe, expect, test } from "vitest";

const text = { type: "string" };
const object = (properties: object, required: string[] = []) => ({ type: "object", properties, required });
const ticket = object({ id: { type: "integer" }, title: text, tags: { type: "array", items: text } });
const TOOLS = [
  {
    name: "findTickets",
    annotations: { readOnlyHint: true },
    inputSchema: object({ status: text }),
    outputSchema: object({ tickets: { type: "array", items: ticket }, total: { type: "integer" } }),
  },
  {
    name: "closeTicket",
    inputSchema: object({ id: { type: "integer" }, note: text }, ["id"]),
    outputSchema: object({ closedAt: text }),
  },
  { name: "sendMail", inputSchema: object({ to: text, body: text }, ["body"]) },
  { name: "getBalance", outputSchema: object({ balance: { type: "number" }, currency: text }) },
] as unknown as ToolDescriptor[];

const FIND = { id: "find", tool: "findTickets", arguments: { status: "open" } };
const close = (rest: object) => ({
  id: "close",
  tool: "closeTicket",
  arguments: { id: "<<item.id>>" },
  ...rest,
});
const LOOP = close({ forEach: "<<find.tickets>>" });
const CANONICAL = {
  id: "close",
  forEach: { items: "<<find.tickets>>", do: { tool: "closeTicket", arguments: { id: "<<item.id>>" } } },
};

const read = (...steps: object[]) => parsePlan({ steps }, { tools: TOOLS });
const stepsOf = (...steps: object[]) => {
  const parsed = read(...steps);
  expect(parsed.diagnostics).toEqual([]);
  return parsed.ok ? parsed.plan.steps : [];
};

describe("all forms of a forEach are equal", () => {
  test.each<[string, object]>([
    ["items next to the call", LOOP],
    ["items with an alias next to the call", close({ forEach: { items: "<<find.tickets>>", as: "item" } })],
    ["the call in do", CANONICAL],
    ["the call in do, and repeated next to it", { ...CANONICAL, tool: "closeTicket", arguments: {} }],
    ["JSON text", close({ forEach: '{"items":"<<find.tickets>>"}' })],
    ["JSON text with the call", { id: "close", forEach: JSON.stringify(CANONICAL.forEach) }],
    ["arguments as JSON text", { ...LOOP, arguments: '{"id":"<<item.id>>"}' }],
    ["empty values in the fields that a strict form requires", { ...LOOP, when: null, dependsOn: [] }],
  ])("%s", (_, step) => {
    expect(stepsOf(FIND, step)).toEqual(stepsOf(FIND, CANONICAL));
  });

  test("a literal list is a list, also as JSON text", () => {
    const given = (forEach: unknown) => stepsOf(close({ forEach, arguments: { id: "<<item>>" } }));
    expect(given("[1, 2]")).toEqual(given([1, 2]));
  });

  test("a call in do that differs from the one next to it is refused", () => {
    const parsed = read(FIND, { ...CANONICAL, tool: "sendMail" });
    expect(parsed.diagnostics.map(({ code, path }) => [code, path])).toEqual([
      ["FIELD_CONFLICT", "steps[1].tool"],
    ]);
  });
});

test("a condition as JSON text equals the condition as JSON", () => {
  const when = { all: [{ lt: ["<<b.balance>>", 10] }, { not: { empty: "<<b.currency>>" } }] };
  const mail = { id: "m", tool: "sendMail", arguments: { body: "low" } };
  const balance = { id: "b", tool: "getBalance" };
  expect(stepsOf(balance, { ...mail, when: JSON.stringify(when) })).toEqual(
    stepsOf(balance, { ...mail, when }),
  );
});

describe("a condition for each item of a forEach", () => {
  const when = { all: [{ gt: ["<<item.id>>", "<<find.total>>"] }, { ne: ["<<index>>", 0] }] };
  const wanted = { id: "close", dependsOn: [], forEach: { ...CANONICAL.forEach, as: "item", when } };
  test.each<[string, object]>([
    ["in the forEach", close({ forEach: { items: "<<find.tickets>>", when } })],
    ["as JSON text", close({ forEach: { items: "<<find.tickets>>", when: JSON.stringify(when) } })],
    [
      "in another notation",
      close({
        forEach: {
          items: "<<find.tickets>>",
          when: JSON.parse(JSON.stringify(when).replaceAll("<<", "{{").replaceAll(">>", "}}")),
        },
      }),
    ],
  ])("is written %s", (_, step) => {
    expect(stepsOf(FIND, step)[1]).toEqual(wanted);
  });

  test("beside the forEach, where it names the item, is read as the condition of the items, with a warning", () => {
    const parsed = read(FIND, close({ forEach: "<<find.tickets>>", when }));
    expect(parsed.ok && parsed.plan.steps[1]).toEqual(wanted);
    expect(parsed.diagnostics).toMatchObject([
      { code: "CONDITION_INVALID", severity: "warning", path: "steps[1].when", suggestion: "forEach.when" },
    ]);
    const answer = readModelAnswer(JSON.stringify([FIND, close({ forEach: "<<find.tickets>>", when })]), {
      tools: TOOLS,
    });
    expect(answer.ok && answer.plan.steps[1]).toEqual(wanted);
    const canonical = parsed.ok ? parsed.plan : undefined;
    const moved = canonical?.steps.map((step) =>
      "forEach" in step ? { ...step, ...close({ forEach: CANONICAL.forEach, when }) } : step,
    );
    const found = canonical
      ? validatePlan({ ...canonical, steps: moved as typeof canonical.steps }, TOOLS)
      : [];
    expect(found).toMatchObject([{ code: "CONDITION_INVALID", severity: "error" }]);
  });

  test("beside the forEach, where it names no item, decides about the step", () => {
    const step = close({ forEach: "<<find.tickets>>", when: { gt: ["<<find.total>>", 1] } });
    expect(stepsOf(FIND, step)[1]).toMatchObject({ when: { gt: ["<<find.total>>", 1] } });
  });

  test("adds dependencies, and its text returns the same plan", () => {
    const parsed = read(
      FIND,
      balance,
      close({
        forEach: {
          items: "<<find.tickets>>",
          when: { all: [{ lt: ["<<item.id>>", "<<b.balance>>"] }, { status: ["find", "COMPLETED"] }] },
        },
      }),
    );
    if (!parsed.ok) throw new TypeError("a valid plan");
    expect(planGraph(parsed.plan).dependencies.get("close")).toEqual(["find", "b"]);
    expect(parsePlan(printPlan(parsed.plan), { tools: TOOLS })).toEqual(parsed);
    expect(PlanSchema.parse(JSON.parse(printPlan(parsed.plan)))).toEqual(parsed.plan);
  });

  test("adds the number of skipped items to the known output", () => {
    const skipped = { body: "<<close.summary.skipped>> left open" };
    const list = { forEach: { items: "<<find.tickets>>", when: { gt: ["<<item.id>>", 1] } } };
    expect(stepsOf(FIND, close(list), mail({ arguments: skipped }))).toHaveLength(3);
    expect(read(FIND, LOOP, mail({ arguments: skipped })).diagnostics).toMatchObject([
      { code: "REFERENCE_FIELD_UNKNOWN" },
    ]);
  });
});

const balance = { id: "b", tool: "getBalance" };
const mail = (rest: object) => ({ id: "m", tool: "sendMail", arguments: { body: "low" }, ...rest });

/** Mistakes of models, with the diagnostics that let a model correct them. */
const CORRECTIONS: [string, object[], Partial<Diagnostic>][] = [
  [
    "an object instead of its list",
    [FIND, close({ forEach: "<<find>>" })],
    { code: "FOREACH_ITEMS_NOT_LIST", suggestion: "<<find.tickets>>", message: "write <<find.tickets>>" },
  ],
  [
    "a number instead of a list",
    [FIND, close({ forEach: "<<find.total>>" })],
    { code: "FOREACH_ITEMS_NOT_LIST", message: "gives integer, and forEach needs a list" },
  ],
  [
    "the envelope of a forEach instead of its list",
    [FIND, LOOP, mail({ forEach: "<<close>>", arguments: { body: "<<item.data.closedAt>>" } })],
    { code: "FOREACH_ITEMS_NOT_LIST", suggestion: "<<close.results[*].data>>" },
  ],
  [
    "words instead of a reference",
    [FIND, close({ forEach: "all tickets" })],
    { code: "FOREACH_ITEMS_NOT_LIST", message: "give a list, or <<step.field>>" },
  ],
  [
    "an item by another name",
    [FIND, close({ forEach: "<<find.tickets>>", arguments: { id: "<<ticket.id>>" } })],
    { code: "REFERENCE_UNKNOWN", suggestion: "item", message: "inside this forEach the item is <<item>>" },
  ],
  [
    "an item without a forEach",
    [FIND, close({})],
    { code: "REFERENCE_UNKNOWN", message: 'put "forEach": "<<step.list>>" beside its tool' },
  ],
  [
    "an item of another step",
    [
      FIND,
      close({ forEach: { items: "<<find.tickets>>", as: "ticket" }, arguments: { id: "<<ticket.id>>" } }),
      mail({ arguments: { body: "<<ticket.title>>" } }),
    ],
    { code: "REFERENCE_UNKNOWN", message: "ticket is the item of step close and known only there" },
  ],
  [
    "an item in the items of its list",
    [FIND, close({ forEach: "<<item.tags>>" })],
    { code: "REFERENCE_UNKNOWN", message: "its items are read once" },
  ],
  [
    "a number as text in the condition of the items",
    [FIND, close({ forEach: { items: "<<find.tickets>>", when: { gt: ["<<item.id>>", "10"] } } })],
    { code: "CONDITION_INVALID", path: "steps[1].forEach.when.gt", message: '<<item.id>>" is integer' },
  ],
  [
    "an expression for the items",
    [FIND, close({ forEach: { items: "<<find.tickets>>", when: "<<item.id>> > 10" } })],
    { code: "CONDITION_INVALID", path: "steps[1].forEach.when", suggestion: '{"gt":["<<item.id>>",10]}' },
  ],
  [
    "a field that items do not have, in their condition",
    [FIND, close({ forEach: "<<find.tickets>>", when: { gt: ["<<item.idd>>", 10] } })],
    { code: "REFERENCE_FIELD_UNKNOWN", path: "steps[1].forEach.when.gt[0]", suggestion: "id" },
  ],
  [
    "an unknown step in the condition of the items",
    [FIND, close({ forEach: { items: "<<find.tickets>>", when: { status: ["bal", "FAILED"] } } })],
    { code: "REFERENCE_UNKNOWN", path: "steps[1].forEach.when.status[0]" },
  ],
  [
    "a placeholder in the condition of the items",
    [FIND, close({ forEach: { items: "<<find.tickets>>", when: { eq: ["<<item.title>>", "<title>"] } } })],
    { code: "ARGUMENT_PLACEHOLDER", path: "steps[1].forEach.when.eq[1]" },
  ],
  [
    "a field of a forEach as if it were one call",
    [FIND, LOOP, mail({ arguments: { body: "<<close.closedAt>>" } })],
    {
      code: "REFERENCE_FIELD_UNKNOWN",
      suggestion: "<<close.results[*].data.closedAt>>",
      message: "close is a forEach, whose output is",
    },
  ],
  [
    "results of a forEach without data",
    [FIND, LOOP, mail({ arguments: { body: "<<close.results[0].closedAt>>" } })],
    { code: "REFERENCE_FIELD_UNKNOWN", suggestion: "<<close.results[0].data.closedAt>>" },
  ],
  [
    "results of a forEach without a star",
    [FIND, LOOP, mail({ arguments: { body: "<<close.results.closedAt>>" } })],
    { code: "REFERENCE_FIELD_UNKNOWN", suggestion: "<<close.results[*].data.closedAt>>" },
  ],
  [
    "the items of a forEach by position",
    [FIND, LOOP, mail({ arguments: { body: "<<close[0].closedAt>>" } })],
    { code: "REFERENCE_FIELD_UNKNOWN", suggestion: "<<close.results[0].data.closedAt>>" },
  ],
  [
    "the complete output of a forEach",
    [FIND, LOOP, mail({ arguments: { body: "<<close>>" } })],
    { code: "REFERENCE_TYPE", suggestion: "<<close.results[*].data>>" },
  ],
  [
    "a field after a list without a star",
    [FIND, mail({ arguments: { body: "<<find.tickets.title>>" } })],
    {
      code: "REFERENCE_FIELD_UNKNOWN",
      suggestion: "<<find.tickets[*].title>>",
      message: '"forEach": "<<find.tickets>>"',
    },
  ],
  [
    "a list for a parameter with one value",
    [FIND, close({ arguments: { id: "<<find.tickets[*].id>>" } })],
    { code: "REFERENCE_TYPE", message: 'give this step a "forEach" with the list, and refer to <<item>>' },
  ],
  [
    "the item instead of its field",
    [FIND, close({ forEach: "<<find.tickets>>", arguments: { id: "<<item>>" } })],
    { code: "REFERENCE_TYPE", suggestion: "<<item.id>>", message: "gives object" },
  ],
  [
    "a field that items do not have",
    [FIND, close({ forEach: "<<find.tickets>>", arguments: { id: "<<item.idd>>" } })],
    { code: "REFERENCE_FIELD_UNKNOWN", suggestion: "id" },
  ],
  [
    "an expression",
    [balance, mail({ when: "<<b.balance>> < 10" })],
    { code: "CONDITION_INVALID", suggestion: '{"lt":["<<b.balance>>",10]}' },
  ],
  [
    "words",
    [balance, mail({ when: "the balance is low" })],
    { code: "CONDITION_INVALID", message: '{"lt": ["<<a.balance>>", 10]}' },
  ],
  [
    "an operator of another language",
    [balance, mail({ when: { less_than: ["<<b.balance>>", 10] } })],
    { code: "CONDITION_INVALID", suggestion: "lt", message: "operators are all any not eq" },
  ],
  [
    "a sign",
    [balance, mail({ when: { ">=": ["<<b.balance>>", 10] } })],
    { code: "CONDITION_INVALID", suggestion: "gte" },
  ],
  [
    "an operator with its operands in fields",
    [balance, mail({ when: { left: "<<b.balance>>", operator: "<", right: 10 } })],
    { code: "CONDITION_INVALID", suggestion: '{"lt":["<<b.balance>>",10]}' },
  ],
  [
    "one operand",
    [balance, mail({ when: { lt: "<<b.balance>>" } })],
    { code: "CONDITION_INVALID", message: '{"lt": ["<<a.field>>", value]}' },
  ],
  [
    "a number as text",
    [balance, mail({ when: { lt: ["<<b.balance>>", "10"] } })],
    { code: "CONDITION_INVALID", message: '"<<b.balance>>" is number, and "10" is string' },
  ],
  [
    "a list as a number",
    [FIND, mail({ when: { any: [{ not: { gt: ["<<find.tickets>>", 0] } }] } })],
    { code: "CONDITION_INVALID", path: "steps[1].when.any[0].not.gt", message: "is array" },
  ],
  [
    "a list on the left of in",
    [FIND, mail({ when: { in: ["<<find.tickets[*].title>>", "Login"] } })],
    { code: "CONDITION_INVALID", message: '"contains" has the list on the left' },
  ],
  [
    "an unknown step",
    [balance, mail({ when: { eq: ["<<balanse.balance>>", 1] } })],
    { code: "REFERENCE_UNKNOWN", message: "no such step" },
  ],
  [
    "a status of an unknown step",
    [balance, mail({ when: { status: ["bal", "FAILED"] } })],
    { code: "REFERENCE_UNKNOWN", path: "steps[1].when.status[0]" },
  ],
  [
    "its own step",
    [mail({ when: { exists: "<<m.id>>" } })],
    { code: "REFERENCE_SELF", message: "refer to an earlier step" },
  ],
  [
    "an unknown field",
    [balance, mail({ when: { lt: ["<<b.balanse>>", 10] } })],
    { code: "REFERENCE_FIELD_UNKNOWN", suggestion: "balance" },
  ],
];

describe("the diagnostic of a mistake lets a model correct it", () => {
  test.each(CORRECTIONS)("%s", (_, steps, { message = "", ...rest }) => {
    const { ok, diagnostics } = readModelAnswer(JSON.stringify({ steps }), { tools: TOOLS });
    expect(ok).toBe(false);
    const found = diagnostics.filter(({ severity }) => severity === "error");
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject(rest);
    expect(found[0]?.message).toContain(message);
  });

  const replaced = (steps: object[], suggestion: string, from: string) =>
    JSON.stringify(steps).replace(JSON.stringify(from).slice(1, -1), JSON.stringify(suggestion).slice(1, -1));
  test.each([
    ["<<find>>", [FIND, close({ forEach: "<<find>>" })]],
    ["<<close.closedAt>>", [FIND, LOOP, mail({ arguments: { body: "Done: <<close.closedAt>>" } })]],
    ["<<find.tickets.title>>", [FIND, mail({ arguments: { body: "Open: <<find.tickets.title>>" } })]],
    ["<<item>>", [FIND, close({ forEach: "<<find.tickets>>", arguments: { id: "<<item>>" } })]],
  ])("the suggestion in place of %s is a plan that can run", (from, steps) => {
    const [first] = read(...steps).diagnostics;
    const mended = parsePlan(replaced([{ steps }], first?.suggestion ?? "", from).slice(1, -1), {
      tools: TOOLS,
    });
    expect(mended.diagnostics).toEqual([]);
  });
});

describe("a given step", () => {
  const parsed = read(FIND, CANONICAL);
  const given = parsed.ok ? parsed.plan.steps : [];
  const answer = (step: object) =>
    readModelAnswer(JSON.stringify({ steps: [step, mail({})] }), { tools: TOOLS, given });

  test.each([LOOP, CANONICAL])("can be repeated in any form of its forEach", (step) => {
    const result = answer(step);
    expect(result.ok && result.plan.steps.map(({ id }) => id)).toEqual(["find", "close", "m"]);
  });

  test("cannot be replaced by another list with its id", () => {
    const result = answer(close({ forEach: [1] }));
    expect(result.diagnostics.map(({ code }) => code)).toContain("STEP_ID_DUPLICATE");
  });
});
