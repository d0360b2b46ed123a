import type { ModelCallHead, PlanHead, RequestDocument } from "@planwright/store";
import { expect, test } from "vitest";
import { bundleTimeline } from "./bundle-timeline.ts";

const at = (second: number): Date => new Date(1_700_000_000_000 + second * 1_000);

test("planning, each model call and each version have one row each, oldest first", () => {
  const request = {
    source: "query",
    createdAt: at(0),
    planning: { startedAt: at(1), finishedAt: at(9) },
    answers: [{ questionId: "q1", question: "Which author?", answer: "Ada", at: at(5) }],
    error: null,
  };
  const call = { model: "large", latencyMs: 1_000, error: null };
  const modelCalls = [
    { ...call, _id: "call_2", purpose: "repair", createdAt: at(6), endedAt: at(7) },
    { ...call, _id: "call_1", purpose: "draft", createdAt: at(2), endedAt: at(3) },
  ];
  const plan = {
    _id: "plan_1",
    version: 1,
    status: "READY",
    createdAt: at(8),
    approvals: [],
    resolutions: [],
  };
  const timeline = bundleTimeline({
    request: request as unknown as RequestDocument,
    plans: [plan as unknown as PlanHead],
    steps: [],
    modelCalls: modelCalls as unknown as ModelCallHead[],
  });
  expect(timeline.map(({ event, callId }) => (callId ? `${event} ${String(callId)}` : event))).toEqual([
    "request.accepted",
    "planning.started",
    "model.called call_1",
    "model.answered call_1",
    "question.answered",
    "model.called call_2",
    "model.answered call_2",
    "plan.stored",
    "planning.ended",
  ]);
});
