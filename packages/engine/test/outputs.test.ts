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
    "no outputs named give all",
    { outputs: [] },
    { status: "COMPLETED", outputs: { author: CALLS["author"], blog: CALLS["blog"] } },
  ],
  [
    "parts are made of what the steps gave",
    { outputs: PARTS },
    { status: "COMPLETED", outputs: { by: "Alice", text: "Hello by Alice" } },
  ],
  [
    "a part keeps the type of its value",
    { outputs: { id: "<<author.id>>", list: ["<<blog.tags>>"] } },
    { status: "COMPLETED", outputs: { id: 7, list: [["a", "b"]] } },
  ],
  [
    "a part of a step that failed is left out, and the plan is PARTIAL by that failure",
    { outputs: PARTS, failing: ["blog"] },
    { status: "PARTIAL", outputs: { by: "Alice" } },
  ],
  [
    "a failure makes a plan FAILED whose every part needed it",
    { outputs: { title: "<<blog.title>>" }, failing: ["blog"] },
    { status: "FAILED", outputs: {} },
  ],
  [
    "a part without its field is left out, and the plan is PARTIAL although every step completed",
    { outputs: { ...PARTS, lost: "<<blog.subtitle>>" } },
    { status: "PARTIAL", outputs: { by: "Alice", text: "Hello by Alice" }, code: "OUTPUT_UNRESOLVED" },
  ],
  [
    "no part at all is FAILED",
    { outputs: { lost: "<<blog.subtitle>>" } },
    { status: "FAILED", outputs: {}, code: "OUTPUT_UNRESOLVED" },
  ],
  [
    "a part of a step that its condition skipped is left out, and nothing went wrong",
    { outputs: PARTS, when: { eq: ["<<author.id>>", 8] } },
    { status: "COMPLETED", outputs: { by: "Alice" }, code: undefined },
  ],
])("%s", async (_, given, expected) => {
  expect(await ends(given)).toMatchObject(expected);
});
