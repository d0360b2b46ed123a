import type { CallEnd } from "@planwright/models";
import { expect, test } from "vitest";
import { settledCall } from "./call-meter.ts";

const BEGUN = {
  call: { promptTokens: 1_000 },
  price: { input: 2, cachedInput: 1, output: 10 },
  reserved: { modelCalls: 1, tokens: 3_000, costUsd: 0.022 },
};
const ANSWERED: CallEnd = {
  text: "x".repeat(33),
  usage: { inputTokens: 800, outputTokens: 100, cachedInputTokens: 300 },
  finishReason: "stop",
  latencyMs: 5,
  error: null,
  spent: "complete",
};
const NO_USAGE = { inputTokens: null, outputTokens: null };
const FAILED = { error: { code: "MODEL_UNREACHABLE", message: "lost" }, finishReason: null };

test("an answer counts the tokens that the provider reported, with a lower price for cached input", () => {
  expect(settledCall(ANSWERED, BEGUN)).toMatchObject({
    inputTokens: 800,
    cachedInputTokens: 300,
    costUsd: 0.0023,
    pricing: "priced",
    latencyMs: 5,
    spent: { modelCalls: 1, tokens: 900, costUsd: 0.0023 },
  });
});

test("the tokens of an answer are estimated when the provider reports none", () => {
  expect(settledCall({ ...ANSWERED, usage: NO_USAGE }, BEGUN)).toMatchObject({
    inputTokens: null,
    pricing: "estimated",
    spent: { modelCalls: 1, tokens: 1_010 },
  });
});

test("an answer is complete when no secret was removed from it", () => {
  expect(settledCall({ ...ANSWERED, text: "{}" }, BEGUN)).toMatchObject({
    answer: "{}",
    isAnswerComplete: true,
  });
  const secret = '{"password":"hidden"}';
  expect(settledCall({ ...ANSWERED, text: secret }, BEGUN)).toMatchObject({
    answer: '{"password":"[redacted]"}',
    isAnswerComplete: false,
  });
});

test("a call that the provider refused counts for nothing", () => {
  const refused: CallEnd = { ...ANSWERED, ...FAILED, usage: NO_USAGE, spent: "none" };
  expect(settledCall(refused, BEGUN)).toMatchObject({
    costUsd: 0,
    spent: { modelCalls: 0, tokens: 0, costUsd: 0 },
    error: FAILED.error,
  });
});

test("a call with an unknown result counts its whole reservation", () => {
  const lost: CallEnd = { ...ANSWERED, ...FAILED, usage: NO_USAGE, spent: "unknown" };
  expect(settledCall(lost, BEGUN)).toMatchObject({ pricing: "estimated", spent: BEGUN.reserved });
});

test("a model without a price is unpriced, and its tokens still count", () => {
  expect(settledCall(ANSWERED, { ...BEGUN, price: null })).toMatchObject({
    costUsd: null,
    pricing: "unpriced",
    spent: { modelCalls: 1, tokens: 900, costUsd: 0 },
  });
});
