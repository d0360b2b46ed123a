import type { JournalEvent } from "@planwright/engine";
import { expect, test } from "vitest";
import { toEventView } from "./journal.ts";

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

const SPENT = { modelCalls: 1, tokens: 1_200, costUsd: 0.01 };
const REASON = { code: "MODEL_REFUSED", message: "The model refused" };
const SHOWN_REASON = { ...REASON, retryable: false, data: null };

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
  [
    {
      type: "items.closed",
      stepId: "each",
      from: 2,
      to: 6,
      status: "CANCELLED",
      error: { code: "CANCELLED", message: "too dear", retryable: false },
    },
    {
      ...nothing,
      stepId: "each",
      key: "each",
      status: "CANCELLED",
      error: { code: "CANCELLED", message: "too dear", retryable: false, data: null },
      facts: { from: 2, to: 6 },
    },
  ],
  [
    { type: "planning.began", worker: "host:1:a", epoch: 2, work: "plan", from: "host:1:b" },
    { ...nothing, facts: { worker: "host:1:a", epoch: 2, work: "plan", from: "host:1:b" } },
  ],
  [
    { type: "model.called", callId: "call_1", purpose: "draft", model: "large", reserved: SPENT },
    { ...nothing, facts: { callId: "call_1", purpose: "draft", model: "large", reserved: SPENT } },
  ],
  [
    { type: "model.answered", callId: "call_1", spent: SPENT, error: null },
    { ...nothing, facts: { callId: "call_1", spent: SPENT } },
  ],
  [
    { type: "model.answered", callId: "call_1", spent: SPENT, error: REASON },
    { ...nothing, error: SHOWN_REASON, facts: { callId: "call_1", spent: SPENT } },
  ],
  [
    { type: "question.asked", questions: [{ id: "q1", question: "Which author?" }] },
    { ...nothing, facts: { questions: [{ id: "q1", question: "Which author?" }], questionsCount: 1 } },
  ],
  [
    {
      type: "answer.given",
      answers: [
        { questionId: "q1", answer: "secret" },
        { questionId: "q2", answer: "secret too" },
      ],
      discardsDraft: false,
    },
    { ...nothing, facts: { questionIds: ["q1", "q2"], questionIdsCount: 2, discardsDraft: false } },
  ],
  [
    { type: "replan.asked", note: "without mail", execute: true },
    { ...nothing, facts: { note: "without mail", execute: true } },
  ],
  [
    { type: "replan.asked", note: null, execute: false },
    { ...nothing, facts: { note: null, execute: false } },
  ],
  [
    { type: "planning.failed", error: REASON },
    { ...nothing, error: SHOWN_REASON },
  ],
  [{ type: "execution.planned" }, nothing],
  [{ type: "planning.cancelled" }, nothing],
  [
    {
      type: "planning.postponed",
      error: REASON,
      since: at,
      tries: 2,
      dueAt: new Date(at.getTime() + 4_000),
      until: new Date(at.getTime() + 600_000),
    },
    {
      ...nothing,
      error: { ...SHOWN_REASON, retryable: true },
      facts: {
        since: at.toISOString(),
        tries: 2,
        dueAt: "2023-11-14T22:13:24.000Z",
        until: "2023-11-14T22:23:20.000Z",
      },
    },
  ],
  [{ type: "answer.written", error: null }, nothing],
  [
    { type: "answer.written", error: REASON },
    { ...nothing, error: SHOWN_REASON },
  ],
])("%j is shown with its facts, and without outputs and answers", (event, expected) => {
  expect(view(event)).toMatchObject({ ...expected, type: event.type });
  expect(JSON.stringify(view(event))).not.toContain("secret");
});

test("a long question or note is truncated to 200 units, and no surrogate pair is split", () => {
  const long = "𝄞".repeat(1_000);
  const cut = `${"𝄞".repeat(99)}…`;
  const asked = view({ type: "question.asked", questions: [{ id: "q1", question: long }] });
  expect(asked.facts).toEqual({ questions: [{ id: "q1", question: cut }], questionsCount: 1 });
  const complete = "𝄞".repeat(100);
  expect(view({ type: "replan.asked", note: long, execute: true }).facts.note).toBe(cut);
  expect(view({ type: "replan.asked", note: complete, execute: true }).facts.note).toBe(complete);
});

test("a control in an entry of an executor is shown with its author and time", () => {
  const askedAt = new Date(at.getTime() - 1);
  const shown = view({ type: "cancel.asked", asked: { id: 1, by: "Olga", at: askedAt } });
  expect(shown).toMatchObject({ by: { kind: "api", id: "Olga" }, at: askedAt });
});
