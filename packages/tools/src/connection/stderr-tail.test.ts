import { expect, test } from "vitest";
import { createStderrTail } from "./stderr-tail.ts";

const after = (...chunks: string[]) => {
  const words = createStderrTail();
  for (const chunk of chunks) words.add(chunk);
  return words.text();
};

test("the last lines are kept, without colours, control and invisible characters", () => {
  expect(after("a\u001b[31mred\u001b[0m\r\n\r\n", "b\u0007\u202e\tc\n")).toBe("ared\nb  c");
});

test("of much that is written the end is kept, in 20 lines and 2,000 characters at most", () => {
  const lines = after(Array.from({ length: 100 }, (_, index) => `line ${index}`).join("\n")).split("\n");
  expect([lines.length, lines[0], lines.at(-1)]).toEqual([20, "line 80", "line 99"]);
  const long = after("x".repeat(100_000), "end");
  expect([long.length, long.startsWith("…"), long.endsWith("xend")]).toEqual([2_000, true, true]);
});

test("while the next process is silent the words of the one before count, until all is well", () => {
  const words = createStderrTail();
  words.add("no licence");
  words.begin();
  expect(words.text()).toBe("no licence");
  words.add("no disk");
  expect(words.text()).toBe("no disk");
  words.forget();
  expect(words.text()).toBe("");
});
