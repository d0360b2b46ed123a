import { expect, test } from "vitest";
import { type DemoStep, planTree, resultOf } from "./run-demo.ts";

const step = (id: string, dependsOn: string[] = [], more: Partial<DemoStep> = {}): DemoStep => ({
  id,
  tool: id,
  status: "COMPLETED",
  dependsOn,
  arguments: {},
  resolvedArguments: {},
  output: null,
  error: null,
  durationMs: null,
  ...more,
});
const titles = (steps: DemoStep[]) => planTree(steps).filter((line) => /[├└]─/.test(line));

test("planTree shows each step once, below the last of its dependencies", () => {
  const steps = [step("a"), step("b"), step("c", ["a", "b"]), step("d", ["a"])];
  expect(titles(steps)).toEqual([
    "├─ a  COMPLETED",
    "│  └─ d  COMPLETED",
    "└─ b  COMPLETED",
    "   └─ c  COMPLETED",
  ]);
});

test("planTree shows tool, duration, both forms of the arguments and the output", () => {
  const lines = planTree([
    step("blog", [], {
      tool: "createBlog",
      durationMs: 12.4,
      arguments: { authorId: "<<a._id>>" },
      resolvedArguments: { authorId: "1" },
      output: { _id: "2" },
    }),
  ]).map((line) => line.trim());
  expect(lines).toEqual([
    "└─ blog (createBlog)  COMPLETED  12 ms",
    'planned    {"authorId":"<<a._id>>"}',
    'arguments  {"authorId":"1"}',
    'output     {"_id":"2"}',
  ]);
});

test("planTree shows why a step failed or was skipped", () => {
  const error = { code: "TOOL_ERROR", message: "email is taken", retryable: false, remedy: "" };
  expect(planTree([step("a", [], { status: "FAILED", error })]).join("\n")).toContain(
    "error      email is taken",
  );
});

test("planTree removes control characters of a tool, and cuts long values", () => {
  const text = planTree([
    step("a", [], {
      output: "x".repeat(1_000),
      error: { code: "E", message: "\u001b[2Jgone\nnext", retryable: false, remedy: "" },
    }),
  ]).join("\n");
  expect(text).not.toContain("\u001b");
  expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThan(240);
});

test("resultOf removes control characters of tools and models from every message", () => {
  const hostile = "no\u001b[2J\r\u202ego";
  const lines = resultOf(
    {
      requestId: "req_1",
      planId: "plan_1",
      status: "FAILED",
      plan: { status: "FAILED", error: { message: hostile }, steps: [], origin: {}, durationMs: null },
      error: { code: "MODEL_FAILED", message: hostile },
      questions: [hostile],
      diagnostics: [{ severity: "error", message: hostile }],
    } as never,
    "http://127.0.0.1:4000/graphql",
  );
  expect(lines.filter((line) => line.includes("no"))).toHaveLength(4);
  expect(lines.join("")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

test("planTree cuts a value between two characters", () => {
  const text = planTree([step("a", [], { output: `${"x".repeat(198)}🎉🎉` })]).join("\n");
  expect(text).not.toMatch(/\p{Surrogate}/u);
});
