import { expect, test } from "vitest";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";
import { contractReport } from "./contract-report.ts";

const shop = (more: Omit<ToolDescriptor, "name">): ToolDescriptor => ({ name: "t", server: "shop", ...more });
const reads = { annotations: { readOnlyHint: true } };
const whyOf = (tool: ToolDescriptor) =>
  Object.fromEntries(
    contractReport(tool).fields.map(({ name, value, why }) => [name, `${JSON.stringify(value)} ${why}`]),
  );

test("readOnlyHint of a configured server is believed for mode and idempotency, and other fields report that it is not", () => {
  expect(whyOf(shop(reads))).toMatchObject({
    mode: '"parallel-safe" readOnlyHint of server shop, believed',
    idempotency: '"natural" readOnlyHint of server shop, believed',
    sideEffects:
      "true default; readOnlyHint of server shop is believed for mode and idempotency alone: server is not marked as trusted",
    barrier: "false default",
  });
});

test("readOnlyHint of a server with trusted: false is ignored, and each affected field reports that", () => {
  expect(whyOf(shop({ ...reads, trusted: false }))).toMatchObject({
    mode: '"sequential-only" default; readOnlyHint of server shop ignored: server is trusted: false',
    idempotency: '"none" default; readOnlyHint of server shop ignored: server is trusted: false',
    sideEffects: "true default; readOnlyHint of server shop ignored: server is trusted: false",
    scope: '"plan" default',
  });
});

test.each<[string, Omit<ToolDescriptor, "name">, object]>([
  [
    "a trusted server",
    { ...reads, trusted: true },
    {
      mode: '"parallel-safe" readOnlyHint of server shop, trusted',
      sideEffects: "false readOnlyHint of server shop, trusted",
      errors: '"no-effect" readOnlyHint of server shop, trusted',
    },
  ],
  [
    "the operator",
    { override: { idempotency: "key" }, idempotency: "natural" },
    { idempotency: '"key" the operator\'s configuration' },
  ],
  [
    "what tightens",
    { _meta: { "x-orchestration": { requires_approval: true } }, timeout_ms: 5 },
    {
      requiresApproval: "true _meta of server shop, which loosens nothing",
      timeoutMs: "5 descriptor of server shop, which loosens nothing",
    },
  ],
  [
    "what would loosen",
    {
      inputSchema: { "x-orchestration": { idempotency: "key", errors: "no-effect" } },
      annotations: { idempotentHint: true },
    },
    {
      errors: '"unknown" default; inputSchema of server shop ignored: server is not marked as trusted',
      idempotency:
        '"none" default; inputSchema of server shop ignored: server is not marked as trusted; idempotentHint of server shop ignored: server is not marked as trusted',
    },
  ],
  [
    "a hint that it writes",
    { annotations: { destructiveHint: true } },
    { sideEffects: "true destructiveHint of server shop, which loosens nothing" },
  ],
])("%s", (_, more, expected) => {
  expect(whyOf(shop(more))).toMatchObject(expected);
});

test("fields without a value are left out, and unreadable declarations are reported", () => {
  const { fields, problems } = contractReport(shop({ "x-orchestration": { mode: "fast" } }));
  expect(fields.map(({ name }) => name)).not.toContain("lookup");
  expect(problems).toEqual([expect.stringMatching(/^x-orchestration: mode is not valid/)]);
});

const by = { package: "shop-mcp", version: "1.2.3" };

test("a field of a reviewed contract names the review, and other fields name the operator", () => {
  const known = { ...by, from: "README, tools: lists", fields: ["side_effects"] };
  expect(whyOf(shop({ override: { side_effects: false, timeout_ms: 5, known } }))).toMatchObject({
    sideEffects: "false reviewed contract of shop-mcp 1.2.3 (README, tools: lists)",
    timeoutMs: "5 the operator's configuration",
  });
});

test("a reviewed contract that does not fit the tool is a problem", () => {
  const override = { known: { ...by, problem: "its input schema differs from the reviewed one" } };
  expect(contractReport(shop({ override })).problems).toEqual([
    "reviewed contract of shop-mcp 1.2.3: its input schema differs from the reviewed one: ignored",
  ]);
});
