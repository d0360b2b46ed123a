import { type JsonValue, validatePlan } from "@planwright/plan";
import { expect, test } from "vitest";
import { checkReplan, type PastPlan, toReplanRequest } from "../src/drafts/check-replan.ts";
import { pastOf, TOOLS } from "./past-plans.ts";

const FIND = { id: "find", tool: "find", arguments: { name: "Alice" } };
const SEND = { id: "send", tool: "send", arguments: { to: "<<find.email>>", text: "Hello" } };
const LOG = { id: "log", tool: "create", arguments: { title: "sent", of: "<<send.id>>" } };
const STEPS = [FIND, SEND, LOG];
const FAILED = { send: { status: "FAILED" }, log: { status: "SKIPPED" } } as const;

/** @param replannedEffects - the setting of the operator */
const check = (past: PastPlan, steps: unknown[], replannedEffects: "approve" | "run" = "run") =>
  checkReplan({ text: JSON.stringify({ steps }), finishReason: "stop" }, past, {
    tools: TOOLS,
    said: "Send Hello to Alice",
    replannedEffects,
  });
/** Steps of the new plan by id, with "ask" for those that need an operator's approval. */
function asks(past: PastPlan, steps: unknown[], replannedEffects?: "approve" | "run") {
  const { plan, ...rest } = check(past, steps, replannedEffects);
  return plan ? plan.steps.map(({ id, approval }) => (approval ? `${id}: ask` : id)) : rest;
}

test("completed steps come first, unchanged, even if the answer omits them", () => {
  const past = pastOf(STEPS, FAILED);
  const { plan } = check(past, [{ ...SEND, arguments: { to: "<<find.mail>>", text: "Hello" } }]);
  expect(plan?.steps[0]).toEqual(past.plan.steps[0]);
  expect(plan?.policy).toEqual(past.plan.policy);
});

test.each<[string, unknown[], string[]]>([
  [
    "a changed side effect needs approval, and so does one that depends on it",
    [{ ...SEND, arguments: { to: "<<find.mail>>", text: "Hello" } }, LOG],
    ["find", "send: ask", "log: ask"],
  ],
  [
    "an unchanged side effect needs no approval when another step is new",
    [{ id: "list", tool: "list", arguments: {} }, SEND],
    ["find", "list", "send"],
  ],
  [
    "an unchanged side effect needs approval when its reference is read in another way",
    [
      { id: "find2", tool: "find", arguments: { name: "Mallory" } },
      { ...SEND, arguments: { to: "<<find2.email>>", text: "Hello" } },
    ],
    ["find", "find2", "send: ask"],
  ],
  [
    "a new step that only reads needs no approval",
    [{ id: "list", tool: "list", arguments: {} }],
    ["find", "list"],
  ],
  [
    "a model cannot remove the approval",
    [{ id: "more", tool: "create", arguments: { title: "x" }, approval: false }],
    ["find", "more: ask"],
  ],
])("%s", (_name, answered, expected) => {
  expect(asks(pastOf(STEPS, FAILED), answered)).toEqual(expected);
});

test.each<[string, JsonValue]>([
  ["after a line end", "Contacts:\nMallory Fox\nid 7"],
  ["in quotes", { text: 'She is "Mallory Fox".' }],
  ["behind a tab", ["1\tMallory Fox"]],
])("a name that an output has %s is not made up", (_, output) => {
  const past = pastOf(STEPS, { ...FAILED, find: { status: "COMPLETED", output } });
  const send = { ...SEND, arguments: { to: "<<find.email>>", text: "Hello", username: "Mallory Fox" } };
  expect(check(past, [send]).diagnostics).toEqual([]);
});

test("an unchanged step needs approval when a dependency keeps its id but changes", () => {
  const ends = {
    find: { status: "FAILED" },
    send: { status: "SKIPPED" },
    log: { status: "SKIPPED" },
  } as const;
  const other = { ...FIND, arguments: { name: "Mallory" } };
  expect(asks(pastOf(STEPS, ends), [other, SEND])).toEqual(["find", "send: ask"]);
  expect(asks(pastOf(STEPS, ends), [FIND, SEND])).toEqual(["find", "send"]);
});

test("a policy may let new side effects run, but not calls of a tool with an unknown outcome", () => {
  const policy = { replannedEffects: "run" } as const;
  const changed = [{ ...SEND, arguments: { to: "<<find.mail>>", text: "Hello" } }, LOG];
  expect(asks(pastOf(STEPS, FAILED, { policy }), changed)).toEqual(["find", "send", "log"]);
  const lost = { ...FAILED, send: { status: "FAILED", outcome: "unknown" } } as const;
  expect(asks(pastOf(STEPS, lost, { policy }), changed)).toEqual(["find", "send: ask", "log"]);
  expect(asks(pastOf(STEPS, lost, { policy }), [SEND])).toEqual(["find", "send: ask"]);
});

test("no policy lets new side effects run against the operator's setting", () => {
  const past = pastOf(STEPS, FAILED, { policy: { replannedEffects: "run" } });
  const changed = [{ ...SEND, arguments: { to: "<<find.mail>>", text: "Hello" } }, LOG];
  expect(asks(past, changed, "approve")).toEqual(["find", "send: ask", "log: ask"]);
  expect(asks(pastOf(STEPS, FAILED), changed, "run")).toEqual(["find", "send: ask", "log: ask"]);
});

test("an unanswered call that its key makes safe needs no approval, but another call of the tool does", () => {
  const policy = { replannedEffects: "run" } as const;
  const lost = { ...FAILED, send: { status: "FAILED", outcome: "unknown", effectClass: "K" } } as const;
  const past = pastOf(STEPS, lost, { policy });
  expect(asks(past, [SEND])).toEqual(["find", "send"]);
  expect(asks(past, [{ ...SEND, arguments: { to: "<<find.mail>>" } }])).toEqual(["find", "send: ask"]);
});

const LIST = {
  id: "each",
  forEach: { items: [1, 2], do: { tool: "send", arguments: { to: "<<item>>" } } },
};
const HALF = {
  each: { status: "FAILED" },
  "each[0]": { status: "COMPLETED", sent: { to: 1 } },
  "each[1]": { status: "FAILED" },
} as const;

test("a list with completed items is kept without approval, and needs approval under any policy when it changes", () => {
  const policy = { replannedEffects: "run" } as const;
  expect(asks(pastOf([FIND, LIST], HALF, { policy }), [LIST, { ...LOG, arguments: {} }])).toEqual([
    "find",
    "each",
    "log",
  ]);
  const rest = { ...LIST, forEach: { ...LIST.forEach, items: [2] } };
  expect(asks(pastOf([FIND, LIST], HALF, { policy }), [rest])).toEqual(["find", "each: ask"]);
});

const PARTLY = { ...HALF, each: { status: "COMPLETED" } } as const;
const TOLD = { id: "told", tool: "list", arguments: { of: "<<each.summary>>" } };
const MAIL = { id: "mail", tool: "create", arguments: { title: "<<told.text>>" } };
const APART = { id: "apart", tool: "create", arguments: { title: "x" }, dependsOn: ["each"] };

test("a list that completed with failed items is shown as failed, and may be changed", () => {
  const past = pastOf([FIND, LIST, TOLD], PARTLY);
  expect(toReplanRequest(past, null).steps).toMatchObject([
    { id: "find", status: "finished" },
    {
      id: "each",
      status: "failed",
      error: { message: "no such person" },
      items: { completed: 1, failed: 1 },
    },
    { id: "told", status: "finished, closed" },
  ]);
});

test("a side effect that used a partly completed list needs approval before it is repeated; one that only ran after the list does not", () => {
  const policy = { replannedEffects: "run" } as const;
  const past = pastOf([FIND, LIST, TOLD, MAIL, APART], PARTLY, { policy });
  expect(asks(past, [LIST, TOLD, MAIL, APART, { id: "more", tool: "find", arguments: {} }])).toEqual([
    "find",
    "each",
    "told",
    "mail: ask",
    "apart",
    "more",
  ]);
  const rest = { ...LIST, forEach: { ...LIST.forEach, items: [2] } };
  expect(asks(past, [rest])).toEqual(["find", "each: ask"]);
});

test("a completed call is not made again under another step id", () => {
  const sent = { to: "a@x.test", text: "Hello" };
  const past = pastOf(STEPS, {
    find: { status: "COMPLETED", output: { email: "a@x.test" } },
    send: { status: "COMPLETED", sent },
    log: { status: "FAILED" },
  });
  const again = [
    { ...SEND, id: "sendAgain" },
    { ...LOG, arguments: { title: "x" } },
  ];
  expect(check(past, again)).toMatchObject({
    plan: null,
    diagnostics: [{ code: "STEP_REPEATED", stepId: "sendAgain", path: "steps[0]" }],
  });
  const inList: [{ id: string; forEach: object }] = [
    {
      id: "each",
      forEach: { items: ["a@x.test"], do: { tool: "send", arguments: { ...sent, to: "<<item>>" } } },
    },
  ];
  expect(check(past, inList)).toMatchObject({ diagnostics: [{ code: "STEP_REPEATED" }] });
  const [{ forEach }] = inList;
  const others = { ...forEach, when: { ne: ["<<item>>", "a@x.test"] } };
  const found = check(past, [{ id: "each", forEach: others }, LOG]).diagnostics;
  expect(found.map(({ code }) => code)).not.toContain("STEP_REPEATED");
  const read = [{ id: "find2", tool: "find", arguments: { name: "Alice" } }];
  expect(asks(past, read)).toEqual(["find", "send", "find2"]);
});

test("completed items are not sent again by other steps", () => {
  const again = [{ id: "send", tool: "send", arguments: { to: 1 } }];
  expect(check(pastOf([LIST], HALF), again)).toMatchObject({ diagnostics: [{ code: "STEP_REPEATED" }] });
});

test("a plan that was tried before ends the replan", () => {
  const past = pastOf(STEPS, FAILED);
  expect(check(past, [LOG, SEND])).toMatchObject({ plan: null, failure: { code: "REPLAN_UNCHANGED" } });
  const earlier = check(past, [{ id: "list", tool: "list", arguments: {} }, SEND]).plan!;
  const second = pastOf(STEPS, FAILED, { earlier: [earlier] });
  expect(check(second, [{ id: "list", tool: "list", arguments: {} }, SEND])).toMatchObject({
    failure: { code: "REPLAN_UNCHANGED", message: expect.stringContaining("rerun") },
  });
});

test("values of tool outputs may be used, made-up values may not", () => {
  const past = pastOf([FIND, SEND], {
    find: { status: "COMPLETED", output: { email: "alice@example.com" } },
    send: { status: "FAILED" },
  });
  expect(asks(past, [{ ...SEND, arguments: { to: "alice@example.com" } }])).toEqual(["find", "send: ask"]);
  expect(check(past, [{ ...SEND, arguments: { to: "john@example.com" } }])).toMatchObject({
    diagnostics: [{ code: "ARGUMENT_PLACEHOLDER" }],
  });
});

test("a step that completed after a failed dependency is left out, and is not called again", () => {
  const policy = { onStepFailure: "run-dependents", onUnresolvedStep: "keep" } as const;
  const past = pastOf(STEPS, { send: { status: "FAILED" } }, { policy });
  expect(toReplanRequest(past, null).steps.map(({ id, status }) => [id, status])).toEqual([
    ["find", "finished"],
    ["send", "failed"],
    ["log", "finished, closed"],
  ]);
  expect(asks(past, [{ ...SEND, arguments: { to: "x" } }])).toEqual(["find", "send: ask"]);
});

test("requested outputs that still exist are kept, and new final steps replace the others", () => {
  const past = pastOf(STEPS, FAILED, { outputs: ["find", "log"] });
  const { plan } = check(past, [
    { id: "list", tool: "list", arguments: {} },
    { id: "mail", tool: "send", arguments: { to: "<<list.first>>" } },
  ]);
  expect(plan?.outputs).toEqual(["find", "mail"]);
});

test("parts of outputs whose steps exist are kept; complete outputs of new final steps are added", () => {
  const outputs = { who: "<<find.name>>", report: "<<find.name>>: <<log.id>>" };
  const { plan } = check(pastOf(STEPS, FAILED, { outputs }), [
    { id: "mail", tool: "send", arguments: { to: "<<find.mail>>" } },
  ]);
  expect(plan?.outputs).toEqual({ mail: "<<mail>>", who: "<<find.name>>" });
});

test.each<[string, unknown, object]>([
  ["declines", { steps: [], impossible: "no tool can" }, { failure: { code: "NOT_PLANNABLE" } }],
  [
    "asks",
    { steps: [], missing: ["Which Alice?"] },
    {
      failure: {
        code: "NOT_PLANNABLE",
        message: expect.stringContaining("Which Alice? Use replan with a note"),
      },
    },
  ],
  ["gives nothing", { steps: [] }, { diagnostics: [{ code: "PLAN_EMPTY" }] }],
  [
    "uses the id of a finished step",
    { steps: [{ ...FIND, arguments: { name: "Bob" } }] },
    { diagnostics: [{ code: "STEP_ID_DUPLICATE" }] },
  ],
])("a model that %s gives no plan", (_name, answered, expected) => {
  const draft = { text: JSON.stringify(answered), finishReason: "stop" };
  const checked = checkReplan(draft, pastOf(STEPS, FAILED), { tools: TOOLS, said: "Send it to Bob" });
  expect(checked).toMatchObject({ plan: null, ...expected });
});

const SECRET = {
  token: "hidden-token",
  text: "with Bearer hidden.bearer.value",
  "a-key": [{ password: "hidden" }],
};
const LOGIN = { id: "login", tool: "create", arguments: { title: "x", ...SECRET } };
const LOGINS = {
  id: "logins",
  forEach: {
    items: [{ apiKey: "hidden-key" }],
    do: { tool: "send", arguments: { to: "x", secret: "hidden" } },
  },
};
const REFUSED = { login: { status: "FAILED" }, logins: { status: "SKIPPED" } } as const;
/** The calls of a past plan as the model saw them. */
const shownCalls = (past: PastPlan) =>
  toReplanRequest(past, null).steps.map(({ id, call, isList }) =>
    isList ? { id, ...Object(call) } : { ...past.plan.steps.find((step) => step.id === id), arguments: call },
  );

test("a model sees no secret of a call, and the parts of the call that it keeps get their secrets back", () => {
  const past = pastOf([FIND, LOGIN, LOGINS], REFUSED);
  const request = JSON.stringify(toReplanRequest(past, null));
  expect(request).not.toContain("hidden");
  expect(request).toContain("[redacted]");
  const [, login, logins] = shownCalls(past);
  const kept = check(past, [login, logins, { id: "list", tool: "list", arguments: {} }]);
  expect(kept.plan?.steps.slice(0, 3)).toEqual(past.plan.steps);
  const changed = check(past, [{ ...login, arguments: { ...login.arguments, title: "y" } }]);
  expect(changed.plan?.steps[1]).toMatchObject({ arguments: { title: "y", ...SECRET }, approval: true });
});

test("a secret is never restored in another step, tool or argument", () => {
  const past = pastOf([FIND, LOGIN], { login: { status: "FAILED" } });
  const secret = { token: "[redacted]" };
  for (const step of [
    { id: "other", tool: "create", arguments: secret },
    { id: "login", tool: "send", arguments: secret },
    { id: "login", tool: "create", arguments: { text: "[redacted]", list: [secret] } },
  ]) {
    const refused = check(past, [step]);
    expect(refused.plan).toBeNull();
    expect(refused.diagnostics.at(-1)).toMatchObject({ code: "ARGUMENT_PLACEHOLDER", stepId: step.id });
    expect(JSON.stringify(refused)).not.toContain("hidden");
  }
});

test("a new version may loop over the output of a finished step, with a condition", () => {
  const each = { tool: "send", arguments: '{"to":"<<item.email>>"}', forEach: "<<find.people>>" };
  const { plan } = check(pastOf(STEPS, FAILED), [
    { id: "sendAll", ...each, dependsOn: [], when: '{"not":{"empty":"<<find.people>>"}}' },
  ]);
  expect(plan?.steps).toMatchObject([
    { id: "find" },
    {
      id: "sendAll",
      forEach: {
        items: "<<find.people>>",
        as: "item",
        do: { tool: "send", arguments: { to: "<<item.email>>" } },
      },
      when: { not: { empty: "<<find.people>>" } },
      approval: true,
    },
  ]);
});

test("a list that completed is kept when the answer repeats it in short form", () => {
  const items = "<<find.people>>";
  const list = { id: "all", forEach: { items, do: { tool: "send", arguments: { to: "<<item.email>>" } } } };
  const past = pastOf([FIND, list, LOG_OF_LIST], { log: { status: "FAILED" } });
  const short = { id: "all", tool: "send", arguments: { to: "<<item.email>>" }, forEach: items };
  expect(
    asks(past, [short, { ...LOG_OF_LIST, arguments: { title: "again", of: "<<all.summary.ok>>" } }]),
  ).toEqual(["find", "all", "log: ask"]);
});

const LOG_OF_LIST = { id: "log", tool: "create", arguments: { title: "sent", of: "<<all.summary.ok>>" } };

test("literal texts stay literal in the new plan", () => {
  const past = pastOf([{ ...FIND, arguments: { name: "<title>" } }, SEND, LOG], FAILED);
  const held: PastPlan = { ...past, plan: { ...past.plan, literals: ["<title>"] } };
  const { plan } = check(held, [SEND]);
  expect(plan?.literals).toEqual(["<title>"]);
  expect(plan && validatePlan(plan, TOOLS).map(({ code }) => code)).toEqual([]);
});
