import { expect, test } from "vitest";
import { readBundle, refusalOf } from "./bundle-request.ts";

const PLAN_ID = "plan_1764000000_abcdefghij0123456789";
const BUNDLE = {
  formatVersion: 2,
  requestId: "req_1764000000_abcdefghij0123456789",
  generatedAt: "2026-11-24T20:18:01.731Z",
  request: {
    requestId: "req_1764000000_abcdefghij0123456789",
    status: "PARTIAL",
    query: "Say hello",
    seq: 7,
    traceUrl: "javascript:alert(1)",
    diagnosis: { cause: { code: "FAILED" }, stepKeys: ["b[3]"], next: [{ command: "reboot" }] },
  },
  plans: [
    {
      planId: PLAN_ID,
      version: 1,
      steps: [
        { id: "a", key: "a", output: { text: "x" } },
        { id: "b", key: "b[3]", output: null },
      ],
    },
  ],
  modelCalls: [],
  events: [{ id: "e", seq: 1, stepId: "b", key: "b[3]", type: "attempt.started" }],
};

const read = (change: object = {}) => readBundle("a.json", JSON.stringify({ ...BUNDLE, ...change }));

test("a bundle is shown as the API answered, with its newest plan", () => {
  const { plans, events } = BUNDLE;
  expect(read()).toMatchObject({ plans, events, request: { query: "Say hello", plan: plans[0] } });
});

test("a bundle gives no links and no commands, and no entries to go back to", () => {
  expect(read()).toMatchObject({ request: { seq: 0, traceUrl: null, diagnosis: { next: [] } } });
});

test.each([
  [
    1,
    /^a\.json is a bundle of format 1, and this page shows format 2: it was made by an older version of Planwright\. Make one with: /,
  ],
  [3, /made by a newer version of Planwright\. Make one with: planwright debug/],
])("a bundle of format %d is refused with the reason and the remedy", (formatVersion, refusal) => {
  expect(read({ formatVersion })).toMatch(refusal);
});

test("a saved answer of the API is read too", () => {
  const text = JSON.stringify({ data: { debugBundle: BUNDLE } });
  expect(readBundle("a.json", text)).toMatchObject({ request: { query: "Say hello" } });
});

test("a file that is larger than a bundle can be is refused by its size, with the limit", () => {
  expect(refusalOf({ name: "a.json", size: 60_000_000 })).toMatch(
    /^a\.json has 58 MiB; a bundle has at most 32, so it was not read\. Make one with: /,
  );
  expect(refusalOf({ name: "a.json", size: 32 * 1_024 * 1_024 })).toBeUndefined();
});

const NOT_A_BUNDLE = "a.json is not a bundle. Make one with: planwright debug REQUEST --bundle";

test.each([300, 3_000, 100_000])("a file that is nested %d levels deep is not a bundle", (levels) => {
  const deep = `${"[".repeat(levels)}${"]".repeat(levels)}`;
  const text = JSON.stringify(BUNDLE).replace('"output":', `"nested":${deep},"output":`);
  expect(readBundle("a.json", text)).toBe(NOT_A_BUNDLE);
});

const withStep = (step: object) => ({ plans: [{ ...BUNDLE.plans[0], steps: [step] }] });

test.each([
  ["requestId", { request: { ...BUNDLE.request, requestId: "req_1764000000_abcdefghij0123456789\nreboot" } }],
  ["requestId", { request: { ...BUNDLE.request, requestId: "$(reboot)" } }],
  ["planId", { plans: [{ ...BUNDLE.plans[0], planId: "plan_1\u202e" }] }],
  ["id of a step", withStep({ id: "a; reboot", key: "a" })],
  ["key of a step", withStep({ id: "a", key: "a`reboot`[3]" })],
  ["key of an event", { events: [{ stepId: "b", key: "b[$(reboot)]" }] }],
  ["key of a diagnosis", { request: { ...BUNDLE.request, diagnosis: { stepKeys: ["$(reboot)"] } } }],
])("a file whose %s is not an id is not a bundle", (_, change) => {
  expect(read(change)).toBe(NOT_A_BUNDLE);
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
  expect(readBundle("a.json", text)).toBe(NOT_A_BUNDLE);
});
