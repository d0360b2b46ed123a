import type { Call, Outcome } from "@planwright/engine";
import {
  JsonObjectSchema,
  JsonText,
  type JsonValue,
  LARGE_JSON_BYTES,
  PlanSchema,
  resolveReferences,
  valueOfHeld,
} from "@planwright/plan";
import { describe, expect, test } from "vitest";
import { askLookup, readFound } from "./ask-lookup.ts";
import { createPlanTools } from "./run/plan-tools.ts";

const CALL: Call = {
  key: "pay",
  stepId: "pay",
  attempt: 2,
  tool: "pay",
  arguments: { reference: "order-7" },
  effectClass: "V",
  mayAct: false,
  timeoutMs: 1_000,
  verify: true,
};

const completed = (output: JsonValue): Outcome => ({ type: "completed", output });
const FOUND = completed({ found: true, result: { paid: 7 } });
const NOT_FOUND = completed({ found: false });
const failedWith = (effect: "none" | "reported" | "unknown", code: string, retryable: boolean): Outcome => ({
  type: "failed",
  effect,
  error: { code, message: "it broke", retryable },
  retryAfterMs: 1_500,
});

/**
 * Asks a lookup tool that gives these answers one after the other.
 * @param contract - of the lookup, beside its tool and arguments
 */
async function ask(answers: readonly Outcome[], contract: object = { settle_ms: 300 }) {
  const lookup = {
    tool: "find",
    arguments: { of: "<<arguments.reference>>", key: "<<idempotencyKey>>" },
    ...contract,
  };
  const plan = PlanSchema.parse({ steps: [{ id: "pay", tool: "pay", arguments: CALL.arguments }] });
  const planTools = createPlanTools({ plan: { plan } }, [
    {
      name: "pay",
      trusted: true,
      _meta: { "x-orchestration": { mode: "parallel-safe", side_effects: true, lookup } },
    },
    { name: "find", trusted: true },
  ]);
  const asked: unknown[] = [];
  const waits: number[] = [];
  const outcome = await askLookup({
    call: CALL,
    idempotencyKey: "p/pay",
    argumentsOf: async (template) => {
      const outputs = new Map<string, JsonValue>([
        ["arguments", CALL.arguments],
        ["idempotencyKey", "p/pay"],
      ]);
      return JsonObjectSchema.parse(resolveReferences(template, { outputs }).value);
    },
    readFound: async ({ text }, outputSchema) => readFound(text, outputSchema),
    planTools,
    tools: {
      async callTool({ tool, arguments: args, idempotencyKey }) {
        asked.push([tool, args, idempotencyKey]);
        return answers[asked.length - 1] ?? NOT_FOUND;
      },
    },
    signal: new AbortController().signal,
    wait: async (ms) => void waits.push(ms),
  });
  return { outcome, asked, waits };
}

const QUESTION = ["find", { of: "order-7", key: "p/pay" }, "p/pay/lookup/2"];

test("a large answer of the lookup tool is read as a small one is, and a large result is held as its text", async () => {
  const large = (answer: JsonValue): Outcome => {
    const text = JSON.stringify({ ...Object(answer), padding: "x".repeat(LARGE_JSON_BYTES) });
    return { type: "completed", output: new JsonText(text, text.length) };
  };
  const result = { paid: 7, note: "x".repeat(LARGE_JSON_BYTES) };
  const found = await ask([large({ found: true, result })]);
  const output = found.outcome.type === "completed" ? found.outcome.output : undefined;
  expect(output).toBeInstanceOf(JsonText);
  expect(output && valueOfHeld(output)).toEqual(result);
  const small = await ask([large({ found: true, result: { paid: 7 } })]);
  expect(small.outcome).toMatchObject({ type: "completed", output: { paid: 7 } });
  expect((await ask([large({ found: false }), NOT_FOUND])).asked).toHaveLength(2);
  expect((await ask([large({})])).outcome).toMatchObject({
    error: { code: "EXECUTOR_LOST", retryable: false },
  });
});

test("the result that the lookup tool finds is the result of the call", async () => {
  const { outcome, asked, waits } = await ask([FOUND]);
  expect(outcome).toEqual(completed({ paid: 7 }));
  expect([asked, waits]).toEqual([[QUESTION], []]);
});

test("a call that is not found is looked up again when the answer is final, and then counts as never made", async () => {
  const { outcome, asked, waits } = await ask([NOT_FOUND, NOT_FOUND]);
  expect(outcome).toMatchObject({
    type: "failed",
    effect: "none",
    error: { code: "EXECUTOR_LOST", retryable: true },
  });
  expect([asked, waits]).toEqual([[QUESTION, [...QUESTION.slice(0, 2), "p/pay/lookup/2/settled"]], [300]]);
});

test("a call that was still on its way is found the second time", async () => {
  expect((await ask([NOT_FOUND, FOUND])).outcome).toEqual(completed({ paid: 7 }));
});

describe("a call is in doubt", () => {
  const DOUBT = { type: "failed", effect: "unknown", error: { code: "EXECUTOR_LOST", retryable: false } };

  test("when it is not found, and the contract has no time after which that is final", async () => {
    const { outcome, asked } = await ask([NOT_FOUND], {});
    expect(outcome).toMatchObject(DOUBT);
    expect(asked).toHaveLength(1);
  });

  test.each<[string, JsonValue]>([
    ["null", null],
    ["a text", "not found"],
    ["an object without found", { result: 1 }],
    ["found as a text", { found: "false" }],
    ["a list", [{ found: false }]],
  ])("when the lookup tool answers %s", async (_, answer) => {
    expect((await ask([completed(answer)])).outcome).toMatchObject(DOUBT);
    expect((await ask([NOT_FOUND, completed(answer)])).outcome).toMatchObject(DOUBT);
  });

  test("when the lookup tool has changed", async () => {
    expect((await ask([failedWith("none", "TOOL_CHANGED", false)])).outcome).toMatchObject(DOUBT);
  });
});

test.each<[string, Outcome, boolean]>([
  ["whose answer was lost", failedWith("unknown", "TOOL_CONNECTION_LOST", true), true],
  ["whose answer could not be read", failedWith("unknown", "TOOL_RESULT_INVALID", false), true],
  ["that was refused by a rate limit", failedWith("none", "TOOL_RATE_LIMITED", true), true],
  ["whose server was down", failedWith("none", "TOOL_UNREACHABLE", true), true],
  ["that may be made later", failedWith("reported", "TOOL_FAILED", true), true],
  ["that the tool refused finally", failedWith("reported", "TOOL_FAILED", false), false],
  ["of a tool that no longer exists", failedWith("none", "TOOL_NOT_FOUND", false), false],
])(
  "a look-up %s leaves the call unknown, and its error shows whether to repeat it",
  async (_, failure, retryable) => {
    for (const answers of [[failure], [NOT_FOUND, failure]]) {
      const { outcome } = await ask(answers);
      expect(outcome).toMatchObject({
        type: "failed",
        effect: "unknown",
        error: { retryable },
        retryAfterMs: 1_500,
      });
    }
  },
);
