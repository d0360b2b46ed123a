import { expect, test } from "vitest";
import { BothModelsFailedError, ModelError } from "../draft/draft-error.ts";
import { awayForMs, modelPauseMs, retryAfterMs, retryWaitMs } from "./to-model-error.ts";

const model = "openai:x";
const lost = new ModelError("MODEL_UNREACHABLE", { model, status: null, retryAfterMs: null });

test.each([
  { attempt: 1, upTo: 500 },
  { attempt: 2, upTo: 1_000 },
  { attempt: 4, upTo: 4_000 },
  { attempt: 9, upTo: 8_000 },
])("the wait after try $attempt is random and below $upTo ms", ({ attempt, upTo }) => {
  expect(retryWaitMs(lost, attempt, 0)).toBe(0);
  expect(retryWaitMs(lost, attempt, 0.5)).toBe(upTo / 2);
});

test("the wait is the one that the provider requests, with 429 and 5xx", () => {
  expect(retryWaitMs(new ModelError("MODEL_RATE_LIMITED", { model, retryAfterMs: 7_000 }), 1, 0)).toBe(7_000);
  expect(
    retryWaitMs(new ModelError("MODEL_UNREACHABLE", { model, status: 503, retryAfterMs: 9_000 }), 1, 0),
  ).toBe(9_000);
});

test("the wait is at least the one that the provider requests, and jitter may make it longer", () => {
  const limited = new ModelError("MODEL_RATE_LIMITED", { model, retryAfterMs: 1_500 });
  expect(retryWaitMs(limited, 4, 0.5)).toBe(2_000);
  expect(retryWaitMs(limited, 4, 0.25)).toBe(1_500);
});

test("a call that would fail again is not retried", () => {
  expect(retryWaitMs(new ModelError("MODEL_UNAUTHORIZED", { model, status: 401 }), 1, 0)).toBeNull();
  expect(retryWaitMs(new ModelError("MODEL_TIMEOUT", { model, timeoutMs: 1 }), 1, 0)).toBeNull();
});

const limited = new ModelError("MODEL_RATE_LIMITED", { model, retryAfterMs: 20_000 });
const unauthorized = new ModelError("MODEL_UNAUTHORIZED", { model, status: 401 });
const late = (text: string) =>
  new ModelError("MODEL_TIMEOUT", { model, timeoutMs: 1 }, { partial: { text } });

test.each([
  { name: "cannot be reached", error: lost, ms: 0 },
  { name: "asks for a wait", error: limited, ms: 20_000 },
  { name: "gives no answer", error: late(""), ms: 0 },
  { name: "began to answer", error: late("{"), ms: null },
  { name: "refuses the key", error: unauthorized, ms: null },
  { name: "is unknown", error: new ModelError("MODEL_NOT_FOUND", { model }), ms: null },
  {
    name: "refuses the key, with a fallback that",
    error: new BothModelsFailedError(unauthorized, limited),
    ms: 20_000,
  },
  { name: "asks for a wait, with a fallback that", error: new BothModelsFailedError(limited, lost), ms: 0 },
  { name: "and a fallback that", error: new BothModelsFailedError(unauthorized, unauthorized), ms: null },
])("a model that $name is away for $ms ms at least (null: a wait is useless)", ({ error, ms }) => {
  expect(awayForMs(error)).toBe(ms);
});

test.each([
  { tries: 1, from: 1_000, below: 2_000 },
  { tries: 2, from: 2_000, below: 4_000 },
  { tries: 5, from: 15_000, below: 30_000 },
  { tries: 900, from: 15_000, below: 30_000 },
])("pause $tries for a model that is away takes $from to $below ms", ({ tries, from, below }) => {
  expect(modelPauseMs(tries, 0)).toBe(from);
  expect(modelPauseMs(tries, 0.9999)).toBeLessThan(below);
});

const NOW = Date.parse("2026-11-01T12:00:00Z");
const info = (retryDelay: unknown) => ({ data: { error: { details: [{ retryDelay }] } } });

test.each([
  { name: "seconds", error: { headers: { "retry-after": "7" } }, ms: 7_000 },
  { name: "seconds of a Headers object", error: { headers: new Headers({ "retry-after": "0.5" }) }, ms: 500 },
  { name: "milliseconds", error: { headers: { "retry-after-ms": "250", "retry-after": "1" } }, ms: 250 },
  { name: "a date", error: { headers: { "retry-after": "Sun, 01 Nov 2026 12:00:30 GMT" } }, ms: 30_000 },
  {
    name: "a date in the past",
    error: { headers: { "retry-after": "Sun, 01 Nov 2026 11:00:00 GMT" } },
    ms: 0,
  },
  {
    name: "a date that counts from the Date of the same answer",
    error: {
      headers: { "retry-after": "Sun, 01 Nov 2026 12:00:30 GMT", date: "Sun, 01 Nov 2026 11:59:30 GMT" },
    },
    ms: 60_000,
  },
  { name: "RetryInfo", error: info("17.5s"), ms: 17_500 },
  { name: "a day", error: { headers: { "retry-after": "86400" } }, ms: 3_600_000 },
  { name: "less than nothing", error: { headers: { "retry-after": "-5" } }, ms: 0 },
  { name: "nonsense", error: { headers: { "retry-after": "soon" } }, ms: null },
  { name: "nothing", error: { headers: { "retry-after": "" } }, ms: null },
  { name: "no headers", error: new TypeError("x"), ms: null },
  { name: "details of another form", error: info(17), ms: null },
])("Retry-After as $name", ({ error, ms }) => expect(retryAfterMs(error, NOW)).toBe(ms));
