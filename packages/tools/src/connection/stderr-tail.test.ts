import { expect, test } from "vitest";
import { createStderrTail } from "./server-connection.ts";

const after = (...chunks: string[]) => {
  const tail = createStderrTail();
  for (const chunk of chunks) tail.add(chunk);
  return tail.text();
};

test("the last lines are kept, without colours, control and invisible characters", () => {
  expect(after("a\u001b[31mred\u001b[0m\r\n\r\n", "b\u0007\u202e\tc\n")).toBe("ared\nb  c");
});

test("the end of long output is kept, at most 20 lines and 2,000 characters", () => {
  const lines = after(Array.from({ length: 100 }, (_, index) => `line ${index}`).join("\n")).split("\n");
  expect([lines.length, lines[0], lines.at(-1)]).toEqual([20, "line 80", "line 99"]);
  const long = after("x".repeat(100_000), "end");
  expect([long.length, long.startsWith("…"), long.endsWith("xend")]).toEqual([2_000, true, true]);
});

test("no character is cut in half", () => {
  expect(after("\u{1f600}".repeat(2_000))).toBe(`…${"\u{1f600}".repeat(999)}`);
});

test("the output of the previous process is kept until the next one writes or connects", () => {
  const tail = createStderrTail();
  tail.add("no licence");
  tail.begin();
  expect(tail.text()).toBe("no licence");
  tail.add("no disk");
  expect(tail.text()).toBe("no disk");
  tail.forget();
  expect(tail.text()).toBe("");
});
