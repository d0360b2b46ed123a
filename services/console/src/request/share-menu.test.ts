import { expect, test } from "vitest";
import { sentenceOf, ticketText } from "./share-menu.tsx";

test.each([
  ["Bring the server back; then", "Bring the server back."],
  ["Run the steps that did not complete again:", "Run the steps that did not complete again."],
  ["Nothing is to be done.", "Nothing is to be done."],
])("%j is shown as %j", (description, sentence) => {
  expect(sentenceOf(description)).toBe(sentence);
});

test("a ticket has the cause, the action, ids and times as text, one fact a line", () => {
  const text = ticketText(
    {
      title: "Pay Bob",
      requestId: "req_1",
      version: 2,
      status: "FAILED",
      waitReason: null,
      plan: null,
      createdAt: "2026-11-24T15:30:12.000Z",
      traceId: null,
      diagnosis: {
        cause: {
          code: "STEP_FAILED",
          severity: "FAILURE",
          message: "step pay failed: no\u202e\nname",
          errorCode: null,
        },
        reasons: [],
        stepKeys: ["pay"],
        since: "2026-11-24T15:30:14.000Z",
        next: [
          { description: "Correct the name; then", operation: "rerun", arguments: {}, command: ["retry"] },
        ],
      },
    },
    "http://host/console/r/req_1",
  );
  expect(text.split("\n")).toEqual([
    "Pay Bob",
    "Status: failed",
    "Cause: step pay failed: no[U+202E] name, since 2026-11-24 15:30:14 UTC",
    "Next: Correct the name.",
    "Steps: pay",
    "Request: req_1, version 2",
    "Asked: 2026-11-24 15:30:12 UTC",
    "Link: http://host/console/r/req_1",
  ]);
});
