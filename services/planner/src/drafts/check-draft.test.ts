import { resolvePolicy } from "@planwright/plan";
import { expect, test } from "vitest";
import { checkDraft } from "./check-draft.ts";

test("a model cannot set retries, timeouts and error handling of a step", () => {
  const step = {
    id: "a",
    tool: "read",
    arguments: {},
    retry: { maxAttempts: 20 },
    timeoutMs: 600_000,
    onError: "continue",
  };
  const draft = { text: JSON.stringify({ steps: [step] }), finishReason: "stop" };
  const { plan, diagnostics } = checkDraft(draft, [{ name: "read" }]);
  expect(plan?.steps).toEqual([{ id: "a", tool: "read", arguments: {}, dependsOn: [] }]);
  expect(diagnostics.map(({ code }) => code)).toEqual(["FIELD_IGNORED", "FIELD_IGNORED", "FIELD_IGNORED"]);
});

test("a policy in the model's answer is ignored", () => {
  const text = JSON.stringify({
    steps: [{ id: "a", tool: "read", arguments: {} }],
    policy: { unannotated: "parallel", onStepFailure: "run-dependents", maxParallel: 256 },
  });
  const draft = { text, finishReason: "stop" };
  expect(checkDraft(draft, [{ name: "read" }]).plan?.policy).toEqual(resolvePolicy());
});
