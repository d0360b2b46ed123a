import { resolvePolicy } from "@planwright/plan";
import { expect, test } from "vitest";
import { checkDraft } from "./check-draft.ts";

test("a policy that the model wrote does not become the plan's", () => {
  const text = JSON.stringify({
    steps: [{ id: "a", tool: "read", arguments: {} }],
    policy: { unannotated: "parallel", onStepFailure: "run-dependents", maxParallel: 256 },
  });
  const draft = { text, finishReason: "stop" };
  expect(checkDraft(draft, [{ name: "read" }]).plan?.policy).toEqual(resolvePolicy());
});
