import { expect, test } from "vitest";
import { readBundle, refusalOf } from "./bundle-request.ts";

const BUNDLE = {
  formatVersion: 1,
  requestId: "req_1764000000_abcdefghij0123456789",
  generatedAt: "2026-11-24T20:18:01.731Z",
  request: { status: "PARTIAL", source: "query", query: "Say hello", version: 1, tags: ["x", 7] },
  plans: [
    {
      _id: "plan_1764000000_abcdefghij0123456789",
      version: 1,
      status: "PARTIAL",
      plan: {
        steps: [
          { id: "a", tool: "read", arguments: {}, dependsOn: [] },
          { id: "b", tool: "send", arguments: { to: "<<a.name>>", text: "<<unknown>>" }, dependsOn: [] },
        ],
      },
      steps: [
        {
          stepId: "a",
          key: "a",
          status: "COMPLETED",
          output: { ref: "plan_1764000000_abcdefghij0123456789/steps/a", sizeBytes: 99, preview: "x" },
        },
        { stepId: "b", key: "b", status: "MOVED", attempts: "none" },
      ],
    },
  ],
  timeline: [{ event: "attempt.started", key: "b[3]", at: "2026-11-24T20:18:00.000Z" }],
};

test("a bundle is read in the shape of the API's answers; references are dependencies, and missing fields are empty", () => {
  const read = readBundle(JSON.stringify(BUNDLE));
  expect(read?.request).toMatchObject({
    requestId: "req_1764000000_abcdefghij0123456789",
    status: "PARTIAL",
    tags: ["x"],
    seq: 0,
  });
  expect(read?.plans[0]?.steps.map(({ id, dependsOn }) => [id, dependsOn])).toEqual([
    ["a", []],
    ["b", ["a"]],
  ]);
  expect(read?.plans[0]?.counts).toMatchObject({ total: 2, completed: 1 });
  expect(read?.plans[0]?.steps[0]).toMatchObject({
    output: null,
    outputReference: { ref: "plan_1764000000_abcdefghij0123456789/steps/a", sizeBytes: 99 },
  });
  expect(read?.events[0]).toMatchObject({
    seq: 1,
    stepId: "b",
    key: "b[3]",
    planId: "plan_1764000000_abcdefghij0123456789",
  });
});

test("a bundle names the trace of its request, if there was one", () => {
  const traceOf = (request: object) => readBundle(JSON.stringify({ ...BUNDLE, request }))?.request.traceId;
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  expect(traceOf({ trace: { traceparent } })).toBe("0af7651916cd43dd8448eb211c80319c");
  expect(traceOf({})).toBeNull();
});

test("a saved answer of the API is read too", () => {
  expect(readBundle(JSON.stringify({ data: { debugBundle: BUNDLE } }))?.request.query).toBe("Say hello");
});

test("a file that is larger than a bundle can be is refused by its size, with the limit", () => {
  expect(refusalOf({ name: "a.json", size: 60_000_000 })).toMatch(
    /^a\.json has 58 MiB; a bundle has at most 32, so it was not read\. Make one with: /,
  );
  expect(refusalOf({ name: "a.json", size: 32 * 1_024 * 1_024 })).toBeUndefined();
});

test.each([300, 3_000, 100_000])("a file that is nested %d levels deep is not a bundle", (levels) => {
  const deep = `${"[".repeat(levels)}${"]".repeat(levels)}`;
  const text = JSON.stringify(BUNDLE).replace('"output":', `"nested":${deep},"output":`);
  expect(readBundle(text)).toBeUndefined();
});

test.each([
  ["requestId", { requestId: "req_1764000000_abcdefghij0123456789\nreboot" }],
  ["requestId", { requestId: "$(reboot)" }],
  ["_id of a plan", { plans: [{ ...BUNDLE.plans[0], _id: "plan_1\u202e" }] }],
  ["stepId", { plans: [{ ...BUNDLE.plans[0], steps: [{ stepId: "a; reboot", key: "a" }] }] }],
  ["key", { plans: [{ ...BUNDLE.plans[0], steps: [{ stepId: "a", key: "a`reboot`[3]" }] }] }],
  ["key of an event", { timeline: [{ event: "attempt.started", key: "b[$(reboot)]" }] }],
])("a file whose %s is not an id is not a bundle", (_, change) => {
  expect(readBundle(JSON.stringify({ ...BUNDLE, ...change }))).toBeUndefined();
});

test.each([
  "",
  "{",
  "null",
  "[]",
  "7",
  "{}",
  '{"formatVersion":2,"requestId":"req_1764000000_abcdefghij0123456789","request":{}}',
])("%j is not a bundle", (text) => {
  expect(readBundle(text)).toBeUndefined();
});
