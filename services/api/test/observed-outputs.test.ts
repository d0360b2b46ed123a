import { observeOutput, toolDigest } from "@planwright/plan";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningApi, startTestApi } from "./running-api.ts";

let running: RunningApi;
const tool = { name: "findTickets", server: "tracker", inputSchema: { type: "object" } };
const digest = toolDigest(tool);
const learn = (tenant: string, output: { [name: string]: string }) =>
  running.store.learnOutputs([
    { tenant, server: tool.server, tool: tool.name, digest, shape: observeOutput(undefined, output) },
  ]);

beforeAll(async () => {
  running = await startTestApi();
  await running.store.publishTools(tool.server, [{ descriptor: tool, digest }]);
  await learn("another", { secretField: "x" });
});
afterAll(() => running.close());

const TOOLS = "{ tools: getAvailableTools { name observedOutput { outputs schema } } }";
const seen = async () => {
  const { body } = await running.graphql(TOOLS);
  return body.data.tools.find((each: { name: string }) => each.name === tool.name).observedOutput;
};

test("a tool shows the output schema observed by the caller's tenant, and nothing of other tenants", async () => {
  expect(await seen()).toBeNull();
  await learn("default", { key: "T-1" });
  await learn("default", { key: "T-2", title: "Tea" });
  expect(await seen()).toEqual({
    outputs: 2,
    schema: {
      type: "object",
      properties: { key: { type: "string", "x-seen": 2 }, title: { type: "string", "x-seen": 1 } },
      required: ["key"],
      "x-seen": 2,
    },
  });
});

test("a plan that refers to a field that was never observed gets a warning with the nearest field", async () => {
  await learn("default", { key: "T-1" });
  const plan = {
    steps: [
      { id: "f", tool: tool.name },
      { id: "g", tool: tool.name, arguments: { q: "<<f.kye>>" } },
    ],
  };
  const { body } = await running.graphql(
    "query ($plan: JSON!) { check: validatePlan(plan: $plan) { valid diagnostics { code severity suggestion } } }",
    { plan },
  );
  expect(body.data.check).toEqual({
    valid: true,
    diagnostics: [{ code: "REFERENCE_FIELD_UNKNOWN", severity: "warning", suggestion: "key" }],
  });
});
