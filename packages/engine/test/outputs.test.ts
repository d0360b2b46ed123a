import type { JsonObject } from "@planwright/plan";
import { expect, test } from "vitest";
import { runPlan } from "../src/index.ts";

const CALLS: Record<string, unknown> = {
  author: { id: 7, name: "Alice" },
  blog: { title: "Hello", tags: ["a", "b"] },
};

interface Case {
  outputs?: JsonObject | string[];
  /** Tools that fail. */
  failing?: string[];
  when?: JsonObject;
}

async function ends({ outputs, failing = [], when }: Case) {
  const steps = [
    { id: "author", tool: "author" },
    { id: "blog", tool: "blog", ...(when && { when }) },
  ];
  const result = await runPlan(
    { steps, ...(outputs && { outputs }), policy: { onStepFailure: "fail-forward" } },
    {
      tools: [{ name: "author" }, { name: "blog" }],
      callTool: ({ tool }) => {
        if (failing.includes(tool)) throw new TypeError(`${tool} is away`);
        return CALLS[tool];
      },
      settleInDoubt: () => ({
        type: "failed",
        error: { code: "TOOL_FAILED", message: "no", retryable: false },
      }),
    },
  );
  return { status: result.status, outputs: result.outputs, code: result.error?.code };
}

const PARTS = { by: "<<author.name>>", text: "<<blog.title>> by <<author.name>>" };

test.each<[string, Case, object]>([
  [
    "without named outputs all are returned",
    { outputs: [] },
    { status: "COMPLETED", outputs: { author: CALLS["author"], blog: CALLS["blog"] } },
  ],
  [
    "parts are built from outputs of steps",
    { outputs: PARTS },
    { status: "COMPLETED", outputs: { by: "Alice", text: "Hello by Alice" } },
  ],
  [
    "a part keeps the type of its value",
    { outputs: { id: "<<author.id>>", list: ["<<blog.tags>>"] } },
    { status: "COMPLETED", outputs: { id: 7, list: [["a", "b"]] } },
  ],
  [
    "a part that reads a failed step is left out, and the plan is PARTIAL because of that failure",
    { outputs: PARTS, failing: ["blog"] },
    { status: "PARTIAL", outputs: { by: "Alice" } },
  ],
  [
    "a plan is FAILED when every part needs a failed step",
    { outputs: { title: "<<blog.title>>" }, failing: ["blog"] },
    { status: "FAILED", outputs: {} },
  ],
  [
    "a part that reads a missing field is left out, and the plan is PARTIAL although every step completed",
    { outputs: { ...PARTS, lost: "<<blog.subtitle>>" } },
    { status: "PARTIAL", outputs: { by: "Alice", text: "Hello by Alice" }, code: "OUTPUT_UNRESOLVED" },
  ],
  [
    "a plan without any part is FAILED",
    { outputs: { lost: "<<blog.subtitle>>" } },
    { status: "FAILED", outputs: {}, code: "OUTPUT_UNRESOLVED" },
  ],
  [
    "a part that reads a step skipped by its condition is left out without an error",
    { outputs: PARTS, when: { eq: ["<<author.id>>", 8] } },
    { status: "COMPLETED", outputs: { by: "Alice" }, code: undefined },
  ],
])("%s", async (_, given, expected) => {
  expect(await ends(given)).toMatchObject(expected);
});
