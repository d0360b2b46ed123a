import { expect, test } from "vitest";
import {
  type Effect,
  type EffectFacts,
  effectOfCall,
  effectOfUnit,
  needsAcceptance,
  openEffect,
} from "./effect.ts";
import type { Outcome } from "./protocol.ts";

const failed = (effect: "none" | "reported" | "unknown", code = "TOOL_FAILED"): Outcome => ({
  type: "failed",
  error: { code, message: "no", retryable: false },
  effect,
});

test.each<[string, Outcome, "unknown" | "no-effect", Effect]>([
  ["an answer that is not an error", { type: "completed", output: null }, "unknown", "done"],
  ["a call that was not sent", { type: "aborted" }, "unknown", "none"],
  ["a refusal before the effect", failed("none", "TOOL_RATE_LIMITED"), "unknown", "none"],
  ["an error that the tool answered", failed("reported"), "unknown", "possible"],
  ["an error with the tool's own code", failed("reported", "SOLD_OUT"), "unknown", "possible"],
  ["an error of a tool whose errors have no effect", failed("reported"), "no-effect", "none"],
  ["a lost answer", failed("unknown", "TOOL_TIMEOUT"), "unknown", "possible"],
  ["a lost answer of a tool whose errors have no effect", failed("unknown"), "no-effect", "possible"],
  ["an answer that is too large", failed("reported", "TOOL_RESULT_TOO_LARGE"), "no-effect", "done"],
  ["an answer that is no result", failed("reported", "TOOL_RESULT_INVALID"), "unknown", "done"],
])("the effect of %s", (_, outcome, errors, effect) => {
  expect(effectOfCall({ mayAct: true, errors }, outcome)).toBe(effect);
  expect(effectOfCall({ mayAct: false, errors }, outcome)).toBeNull();
});

const attempt = (outcome: EffectFacts["attempts"][number]["outcome"], effect: Effect | null) => ({
  outcome,
  effect,
});
const FAILED = { status: "FAILED", error: { code: "TOOL_FAILED" } } as const;

test.each<[string, EffectFacts, Effect | null]>([
  ["a read", { ...FAILED, attempts: [attempt("failed", null)] }, null],
  ["a unit that was never called", { ...FAILED, attempts: [] }, null],
  [
    "a completed unit",
    { status: "COMPLETED", error: null, attempts: [attempt("completed", "done")] },
    "done",
  ],
  ["one refused call", { ...FAILED, attempts: [attempt("failed", "none")] }, "none"],
  [
    "an error after a refusal",
    { ...FAILED, attempts: [attempt("failed", "none"), attempt("failed", "possible")] },
    "possible",
  ],
  [
    "a refusal after an error",
    { ...FAILED, attempts: [attempt("failed", "possible"), attempt("failed", "none")] },
    "possible",
  ],
  [
    "a lost answer that a refusal under the same key settled",
    { ...FAILED, attempts: [attempt("unknown", "possible"), attempt("failed", "none")] },
    "none",
  ],
  [
    "an item that failed in a batch that was answered",
    { ...FAILED, attempts: [attempt("completed", "done")] },
    "possible",
  ],
  [
    "an item that failed in a batch of a tool whose errors have no effect",
    { ...FAILED, item: 1, attempts: [{ ...attempt("completed", "done"), errors: "no-effect" }] },
    "none",
  ],
  [
    "a step that failed because of some items of its own batch, by a tool whose errors have no effect",
    { ...FAILED, attempts: [{ ...attempt("completed", "done"), errors: "no-effect" }] },
    "possible",
  ],
  [
    "an answer that cannot be used for an item, by a tool whose errors have no effect",
    {
      status: "FAILED",
      item: 0,
      error: { code: "TOOL_RESULT_INVALID" },
      attempts: [{ ...attempt("completed", "done"), errors: "no-effect" }],
    },
    "done",
  ],
  [
    "an answer that cannot be used",
    { status: "FAILED", error: { code: "TOOL_RESULT_INVALID" }, attempts: [attempt("completed", "done")] },
    "done",
  ],
  [
    "a lost answer",
    { ...FAILED, mayHaveActed: true, attempts: [attempt("unknown", "possible")] },
    "possible",
  ],
  ["a doubt", { status: "IN_DOUBT", error: null, attempts: [attempt("unknown", "possible")] }, "possible"],
  ["a running call", { status: "RUNNING", error: null, attempts: [attempt(null, "possible")] }, "possible"],
  [
    "a doubt that an operator settled as not done",
    { status: "FAILED", error: { code: "SETTLED_AS_FAILED" }, attempts: [attempt("unknown", "possible")] },
    "none",
  ],
  [
    "a doubt that an operator settled after the end",
    { ...FAILED, resolvedBy: { resolution: "retry" }, attempts: [attempt("unknown", "possible")] },
    "none",
  ],
])("the effect of %s, over all its attempts", (_, facts, effect) => {
  expect(effectOfUnit(facts)).toBe(effect);
});

test.each(["K", "R", "V", "U", null] as const)(
  "class %s: a repeat needs acceptance after a failure that may have acted",
  (effectClass) => {
    const isUnsafe = effectClass !== "K" && effectClass !== "R";
    expect(needsAcceptance({ status: "FAILED", effect: "possible", effectClass })).toBe(isUnsafe);
    expect(needsAcceptance({ status: "FAILED", effect: "done", effectClass })).toBe(isUnsafe);
    for (const effect of ["none", null] as const)
      expect(needsAcceptance({ status: "FAILED", effect, effectClass })).toBe(false);
    // A repeat that was refused before needs its name, whatever it was.
    const error = { code: "REPEAT_NOT_ACCEPTED" };
    expect(needsAcceptance({ status: "FAILED", effect: null, effectClass, error })).toBe(true);
    // A completed step is carried over, and a doubt is settled first.
    for (const status of ["COMPLETED", "IN_DOUBT", "PENDING"] as const)
      expect(needsAcceptance({ status, effect: "possible", effectClass })).toBe(false);
  },
);

test.each<[string, Partial<Parameters<typeof openEffect>[0]>, ReturnType<typeof openEffect>]>([
  ["an error that was answered", {}, "answered"],
  ["a call in doubt", { status: "IN_DOUBT" }, "unsettled"],
  ["an answer that cannot be used", { effect: "done", error: { code: "TOOL_RESULT_INVALID" } }, "unsettled"],
  ["an earlier version's call without an answer", { effect: null, unanswered: [{}] }, "unsettled"],
  ["an earlier version's failed call", { effect: null, unanswered: [{ isAnswered: true }] }, null],
  ["a call that did nothing", { effect: "none" }, null],
  ["a completed unit", { status: "COMPLETED", effect: "done" }, null],
  ["a unit that an operator settled", { resolvedBy: { resolution: "retry" } }, null],
  ["a call that may be repeated", { effectClass: "R" }, null],
])("what %s leaves open", (_, facts, open) => {
  expect(openEffect({ status: "FAILED", effect: "possible", effectClass: "K", ...facts })).toBe(open);
});
