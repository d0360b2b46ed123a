import { expect, test } from "vitest";
import { figuresOf, ratioOf, sumFigures } from "./model.ts";
import type { Task } from "./model-tasks.ts";

const task: Task = { name: "t", group: "one call", query: "q", calls: [], answer: "a" };
const run = (wallMs: number) => ({
  task,
  contender: "react" as const,
  wallMs,
  calls: [
    { prompt: 100, completion: 10 },
    { prompt: 120, completion: 5 },
  ],
});

test("a task takes the median of its repeats, and the tokens of all its calls", () => {
  expect(figuresOf([run(30), run(10), run(12)])).toEqual({
    wallMs: 12,
    modelCalls: 2,
    promptTokens: 220,
    completionTokens: 15,
  });
  expect(figuresOf([run(30), run(10)]).wallMs).toBe(20);
});

test("a ratio above one means that time and tokens are saved", () => {
  const once = figuresOf([run(10)]);
  expect(ratioOf(sumFigures([once, once, once]), once)).toEqual({ faster: 3, fewerTokens: 3 });
});
