/**
 * Tools whose names contain spaces, letters of other scripts and slashes, from the list of a real MCP server
 * to the last call.
 */
import type { CountingTool } from "@planwright/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { planwright } from "../../../packages/cli/test/planwright.ts";
import { type System, startSystem } from "./system.ts";

const read = (name: string, description: string): CountingTool => ({
  name,
  description,
  annotations: { readOnlyHint: true },
  contract: { mode: "parallel-safe", side_effects: false, idempotency: "natural" },
  effect: "never",
});
const TOOLS: CountingTool[] = [
  {
    name: "send mail",
    description: "Sends a mail with a text.",
    annotations: { readOnlyHint: false },
    contract: {
      mode: "fan-out-bounded",
      max_concurrency: 1,
      scope: "tenant",
      rate_limit: { max: 100, per_ms: 1_000 },
      side_effects: true,
      idempotency: "key",
    },
    effect: "per-key",
  },
  read("größe.messen", "Measures the size of a thing."),
  read("repo/search $1", "Searches in the repository."),
];
const NAMES = ["größe.messen", "send mail", "counting/repo/search $1"];

let system: System;
beforeAll(async () => {
  // A Redis that does not know these limits yet gives no slot before one lease time has passed.
  system = await startSystem({ env: { LIMIT_LEASE_MS: "2000" }, tools: TOOLS });
  await system.startPlanner();
});
afterAll(() => system.close());

test("they are planned by a model, called by their names on the server, limited, found and shown", async () => {
  const mail = (id: string) => ({
    id,
    tool: "send mail",
    arguments: { value: "Size: <<größe.messen.value>>" },
  });
  const steps = [
    { id: "size", tool: "größe.messen", arguments: { value: "lamp" } },
    mail("m1"),
    mail("m2"),
    { id: "found", tool: "repo/search $1", arguments: { value: "<<m1.value>>, <<m2.value>>" } },
  ];
  system.model.script(() => ({
    type: "answer",
    text: JSON.stringify({ steps, missing: null, impossible: null }),
  }));
  const requestId = await system.createPlan(
    "Measure the size of the lamp, then send mail about the size twice, then search in the repository for both",
  );
  const request = await system.until(
    requestId,
    ({ status }) => status !== "PLANNING" && status !== "EXECUTING",
  );
  expect(request).toMatchObject({ status: "COMPLETED", error: null });
  const prompt = JSON.stringify(system.model.requests[0]?.body["messages"]);
  for (const name of NAMES) expect(prompt).toContain(`{\\"name\\":\\"${name}\\"`);
  expect(system.model.requests).toHaveLength(1);
  const given = Object.fromEntries(
    request.plan.steps.map((step: { id: string; resolvedArguments: unknown }) => [
      step.id,
      step.resolvedArguments,
    ]),
  );
  expect(given).toMatchObject({
    m1: { value: "Size: lamp" },
    found: { value: "Size: lamp, Size: lamp" },
  });
  expect((await system.tools.ledger()).map(({ tool }) => tool)).toEqual(["send mail", "send mail"]);
  expect(Object.keys(system.tools.stats())).toEqual(expect.arrayContaining(["send mail", "repo/search $1"]));
  for (const tool of NAMES) {
    const { requests } = await system.graphql(
      "query ($tool: String!) { requests(filter: { tool: $tool }) { edges { node { requestId } } } }",
      { tool },
    );
    expect(requests.edges).toEqual([{ node: { requestId } }]);
  }
});

test("the CLI shows such a tool, with the learned shape of its output", async () => {
  const env = { PLANWRIGHT_URL: system.apiUrl };
  await expect
    .poll(async () => (await planwright(["tools", "send mail"], { env })).stdout, { timeout: 30_000 })
    .toContain("as seen in 2 runs");
  for (const name of NAMES) {
    const { stdout, exitCode } = await planwright(["tools", name], { env });
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining(`${name}  of server counting`)]);
  }
});
