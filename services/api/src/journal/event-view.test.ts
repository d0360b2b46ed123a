import type { JournalEvent } from "@planwright/engine";
import { expect, test } from "vitest";
import { toEventView } from "./event-view.ts";

const at = new Date(1_700_000_000_000);
const view = (event: JournalEvent) =>
  toEventView({
    requestId: "req_1700000000_aaaaaaaaaaaaaaaaaaaa",
    planId: "plan_1700000000_aaaaaaaaaaaaaaaaaaaa",
    seq: 3,
    position: 1,
    at,
    by: { kind: "api", id: "ci" },
    event,
    lengths: {},
  });

const nothing = {
  stepId: null,
  key: null,
  attempt: null,
  status: null,
  error: null,
  reason: null,
  facts: {},
};

test.each<[JournalEvent, object]>([
  [
    {
      type: "doubt.resolved",
      key: "each[3]",
      attempt: 2,
      resolution: { type: "completed", output: "secret" },
    },
    { ...nothing, stepId: "each", key: "each[3]", attempt: 2, facts: { resolution: "completed" } },
  ],
  [
    { type: "approval.given", stepId: "a", approved: false, approvalHash: "5", reason: "too dear" },
    { ...nothing, stepId: "a", key: "a", reason: "too dear", facts: { approved: false, approvalHash: "5" } },
  ],
  [
    { type: "lease.released", status: "WAITING", waitReason: "backoff", dueAt: at },
    { ...nothing, status: "WAITING", reason: "backoff", facts: { dueAt: at.toISOString() } },
  ],
  [{ type: "cancel.asked" }, nothing],
  [
    { type: "items.expanded", stepId: "each", count: 7 },
    { ...nothing, stepId: "each", key: "each", facts: { count: 7 } },
  ],
])("%j is shown with what belongs to it, and without outputs", (event, expected) => {
  expect(view(event)).toMatchObject({ ...expected, type: event.type });
  expect(JSON.stringify(view(event))).not.toContain("secret");
});
