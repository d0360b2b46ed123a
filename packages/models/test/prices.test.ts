import { expect, test } from "vitest";
import { costUsd, createPriceList } from "../src/index.ts";

test.each([
  "openai:gpt-4o-mini",
  "openai:gpt-4o-mini-2024-07-18",
  "anthropic:claude-haiku-4-5-20251001",
  "google:gemini-2.5-flash-latest",
])("%s has a price", (model) => {
  expect(createPriceList({}).priceOf(model)).toMatchObject({ input: expect.any(Number) });
});

test.each([
  "openai:gpt-4o-mini-audio",
  "openai:gpt-9",
  "compatible:gpt-4o",
  "offline",
  "toString",
  "x:constructor",
])("%s has no price", (model) => expect(createPriceList({}).priceOf(model)).toBeNull());

test("list prices do not apply to a server at a base URL, and prices of the file do", () => {
  const settings = { OPENAI_BASE_URL: "http://localhost:1/v1" };
  expect(createPriceList(settings).priceOf("openai:gpt-4o")).toBeNull();
  const prices = createPriceList(settings, '{"openai:gpt-4o": {"input": 1, "output": 2}}');
  expect(prices.priceOf("openai:gpt-4o")).toEqual({ input: 1, output: 2 });
});

test.each([
  "",
  "[",
  '{"gpt-4o": {"input": 1, "output": 2}}',
  '{"openai:x": {"input": "1"}}',
  '{"openai:x": {"input": -1, "output": 1}}',
])("a file with %s is refused with the expected form", (text) => {
  expect(() => createPriceList({}, text)).toThrow(
    expect.objectContaining({
      code: "MODEL_PRICES_INVALID",
      message: expect.stringContaining("MODEL_PRICES_FILE"),
    }),
  );
});

test("a call costs its input, cached input at its lower price, and its output", () => {
  const price = { input: 2, cachedInput: 0.5, output: 8 };
  expect(
    costUsd(price, { inputTokens: 1_000_000, outputTokens: 500_000, cachedInputTokens: 400_000 }),
  ).toBeCloseTo(1.2 + 0.2 + 4);
  expect(
    costUsd({ input: 2, output: 8 }, { inputTokens: 1_000, outputTokens: 0, cachedInputTokens: 1_000 }),
  ).toBe(0.002);
  expect(
    costUsd(price, { inputTokens: null, outputTokens: null }, { inputTokens: 500_000, outputTokens: 0 }),
  ).toBe(1);
});
