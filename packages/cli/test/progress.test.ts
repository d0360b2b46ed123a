import { isAtRest, needOf, requestLook } from "@planwright/client";
import { STATE_LOOKS, stateLook, WAIT_WORDS } from "@planwright/plan";
import { expect, test } from "vitest";
import { TIMES } from "../../client/test/progress.ts";
import { debugReport } from "../src/report/debug-report.ts";
import { exitCodeOf } from "../src/report/exit-code.ts";
import { markOf } from "../src/report/format.ts";
import { planText } from "../src/report/plan-text.ts";
import { progressLines, progressTree } from "../src/report/progress.ts";
import { stepLine } from "../src/report/step-line.ts";
import { plainStyle } from "../src/terminal.ts";
import {
  attemptOf,
  errorOf,
  factsOf,
  later,
  NOW_MS,
  planOf,
  REQUEST_ID,
  requestOf,
  stepOf,
} from "./fixtures/requests.ts";

const waiting = (status: string, waitReason: string | null) =>
  requestOf({
    plan: planOf([stepOf("a", { status: "WAITING_APPROVAL", approvalHash: "h" })], { status, waitReason }),
  });

test.each([
  ["COMPLETED", requestOf({ status: "COMPLETED" }), 0],
  ["PARTIAL", requestOf({ status: "PARTIAL" }), 1],
  ["FAILED", requestOf({ status: "FAILED" }), 1],
  ["CANCELLED", requestOf({ status: "CANCELLED" }), 1],
  ["NEEDS_INPUT", requestOf({ status: "NEEDS_INPUT" }), 3],
  ["READY without automatic start", requestOf({ status: "READY", autoExecute: false }), 3],
  ["READY with automatic start", requestOf({ status: "READY" }), null],
  ["PLANNING", requestOf({ status: "PLANNING" }), null],
  ["EXECUTING", requestOf({ plan: planOf([]) }), null],
  ["waiting for an approval", waiting("WAITING", "approval"), 3],
  ["asking for an approval while something runs", waiting("RUNNING", null), null],
  ["waiting for a backoff and an approval", waiting("WAITING", "backoff"), null],
  ["paused", requestOf({ plan: planOf([], { status: "PAUSED" }) }), 3],
  ["of an unknown status", requestOf({ status: "THINKING" }), null],
])("exitCodeOf a request that is %s", (_, request, exitCode) => {
  expect(exitCodeOf(request)).toBe(exitCode);
  expect(isAtRest(request)).toBe(exitCode !== null);
});

test("a plan that was not started is not called paused", () => {
  const ready = { status: "READY", waitReason: "paused" } as const;
  expect(progressLines(null, requestOf({ ...ready, plan: planOf([], ready) }))).toContain(
    "plan READY (waits to be started)",
  );
});

test("an approval that was given is no longer needed, even before an executor has read it", () => {
  const steps = [stepOf("a", { status: "WAITING_APPROVAL", approvalHash: "h" })];
  const approval = {
    stepId: "a",
    approved: true,
    approvalHash: "h",
    reason: null,
    by: "api",
    at: "2026-11-21T09:28:50Z",
  };
  const plan = planOf(steps, { status: "WAITING", waitReason: "approval", approvals: [approval] });
  expect(needOf(requestOf({ plan }))).toBe(null);
  const stale = planOf(steps, { ...plan, approvals: [{ ...approval, approvalHash: "other" }] });
  expect(needOf(requestOf({ plan: stale }))).toBe("approval");
});

test("a model that is away is one line, however often it is tried, and the tree shows the next try", () => {
  const waiting = (tries: number, waitReason: string | null) =>
    requestOf({
      status: "PLANNING",
      waitReason,
      modelWait: {
        error: { code: "MODEL_UNREACHABLE", message: "openai:x cannot be reached (HTTP 500)" },
        since: "2026-11-21T09:28:00.000Z",
        tries,
        nextAttemptAt: `2026-11-21T09:28:0${tries}.000Z`,
        until: "2026-11-21T09:38:00.000Z",
      },
    });
  const away =
    "planning waits for the model, away since 2026-11-21T09:28:00.000Z: openai:x cannot be reached (HTTP 500) (MODEL_UNREACHABLE)";
  const first = progressLines(null, waiting(1, "backoff"));
  expect(first.at(-1)).toBe(
    `${away}; next try at 2026-11-21T09:28:01.000Z; given up at 2026-11-21T09:38:00.000Z`,
  );
  expect(progressLines(waiting(1, "backoff"), waiting(1, null))).toEqual([]);
  expect(progressLines(waiting(1, null), waiting(2, "backoff"))).toEqual([]);
  expect(progressLines(waiting(2, "backoff"), waiting(2, "no worker"))).toEqual([
    "planning: no planner is alive",
  ]);
  const tree = (request: ReturnType<typeof waiting>) =>
    progressTree(request, { style: plainStyle, nowMs: NOW_MS, maxLines: 9 }).join();
  expect(tree(waiting(2, null))).toContain("tried again now");
});

test("progressLines prints each change since the last reading once", () => {
  const first = requestOf({ status: "PLANNING" });
  const second = requestOf({
    plan: planOf([stepOf("a", { status: "RUNNING", attempts: [attemptOf(1)] }), stepOf("b")]),
  });
  const third = requestOf({
    status: "FAILED",
    plan: planOf(
      [
        stepOf("a", {
          status: "FAILED",
          attempts: [attemptOf(1)],
          durationMs: 12,
          error: errorOf("TOOL_FAILED"),
        }),
        stepOf("b", { status: "SKIPPED", tool: "look", error: errorOf("DEPENDENCY_FAILED", "Skipped\nok") }),
      ],
      { status: "FAILED", finishedAt: "2026-11-21T09:28:50.000Z" },
    ),
  });
  expect(progressLines(null, first)).toEqual([`${REQUEST_ID} accepted`, "planning"]);
  expect(progressLines(first, first)).toEqual([]);
  expect(progressLines(first, second)).toEqual([
    "plan_1795253322_657fpktzrqn6kd5fqwdd planned: 2 steps, offline",
    "plan RUNNING",
    "  a RUNNING",
  ]);
  expect(progressLines(second, third)).toEqual([
    "  a FAILED 12 ms: what the tool said (TOOL_FAILED)",
    "  b (look) SKIPPED: Skipped ok (DEPENDENCY_FAILED)",
    "plan FAILED",
  ]);
});

test("a plan and a request that wait to be claimed are shown as such, and limits of tools as limits", () => {
  const reading = (status: string) =>
    requestOf({ status: "EXECUTING", plan: planOf([stepOf("a")], { status, waitReason: "limit" }) });
  expect(progressLines(null, reading("QUEUED"))).toContain(
    "plan QUEUED (waits for an executor with a free slot)",
  );
  expect(progressLines(null, reading("WAITING"))).toContain(
    "plan WAITING (waits for a free slot of its tool)",
  );
  const planning = requestOf({ status: "PLANNING", waitReason: "limit" });
  expect(progressLines(null, planning)).toContain("planning: waits for a planner with a free slot");
});

test("a new version of the plan is shown from its beginning", () => {
  const first = requestOf({ plan: planOf([stepOf("a", { status: "COMPLETED" })]) });
  const second = requestOf({
    version: 2,
    plan: planOf([stepOf("a", { status: "COMPLETED", carriedFrom: "plan_1" })], {
      planId: "plan_2",
      version: 2,
    }),
  });
  expect(progressLines(first, second)[0]).toBe("plan_2 planned: 1 step, offline, version 2");
});

const tree = (request: ReturnType<typeof requestOf>, maxLines = 40) =>
  progressTree(request, { style: plainStyle, nowMs: NOW_MS, maxLines });

test("progressTree draws each step once, below the last of its dependencies", () => {
  const steps = [
    stepOf("a", { status: "COMPLETED", durationMs: 40, attempts: [attemptOf(1)] }),
    stepOf("b", { status: "RUNNING", attempts: [attemptOf(1), attemptOf(2, { outcome: null })] }),
    stepOf("c", { dependsOn: ["a", "b"], waitReason: "dependency" }),
    stepOf("d", { dependsOn: ["a"], tool: "look", waitReason: "limit" }),
  ];
  expect(tree(requestOf({ plan: planOf(steps) }))).toEqual([
    `▸ ${REQUEST_ID}  executing  1 of 4 steps  8.0 s`,
    "├─ ✔ a  40 ms",
    "│  └─ ○ d (look)  waits for a free slot of its tool",
    "└─ ▸ b  6.0 s  attempt 2",
    "   └─ ○ c",
  ]);
});

test("progressTree counts the items of a list instead of drawing them", () => {
  const steps = [
    stepOf("each", { status: "RUNNING" }),
    stepOf("each", { key: "each[0]", item: 0, status: "COMPLETED" }),
    stepOf("each", { key: "each[1]", item: 1, status: "FAILED" }),
    stepOf("each", { key: "each[2]", item: 2, status: "SKIPPED" }),
  ];
  expect(tree(requestOf({ plan: planOf(steps) }))[1]).toBe("└─ ▸ each  1 of 3 items  1 failed  1 skipped");
});

test("large counts of items are written alike", () => {
  const items = Array.from({ length: 3_000 }, (_, item) =>
    stepOf("list", { key: `list[${item}]`, item, status: item < 1_500 ? "COMPLETED" : "FAILED" }),
  );
  const list = stepOf("list", { status: "RUNNING" });
  expect(tree(requestOf({ plan: planOf([list, ...items]) }))[1]).toContain(
    "1,500 of 3,000 items  1,500 failed",
  );
});

test("planText says which items of a list are called", () => {
  const forEach = { items: "<<find.hits>>", when: { gt: ["<<item.stock>>", 0] }, do: { tool: "send" } };
  const plan = planOf([stepOf("each")], { document: { steps: [{ id: "each", forEach }] } });
  expect(planText(plan, plainStyle).join("\n")).toContain(
    'for each of "<<find.hits>>" where {"gt":["<<item.stock>>",0]}',
  );
});

test("progressTree fits the screen and shows failed and running steps", () => {
  const steps = Array.from({ length: 500 }, (_, index) =>
    stepOf(`s${index}`, { status: index === 300 ? "FAILED" : index === 400 ? "RUNNING" : "COMPLETED" }),
  );
  const lines = tree(requestOf({ plan: planOf(steps) }), 10);
  expect(lines).toHaveLength(10);
  expect(lines.join("\n")).toMatch(/s300[\s\S]*s400/);
  expect(lines.at(-1)).toContain("and 492 more steps");
});

test("progressTree draws a chain of a thousand steps no wider than a screen", () => {
  const steps = Array.from({ length: 1_000 }, (_, index) =>
    stepOf(`s${index}`, { dependsOn: index === 0 ? [] : [`s${index - 1}`] }),
  );
  const lines = tree(requestOf({ plan: planOf(steps) }), 2_000);
  expect(lines).toHaveLength(1_001);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(80);
});

const REASONS = [null, ...Object.keys(WAIT_WORDS)];
const drawn = (request: ReturnType<typeof requestOf>) =>
  progressTree(request, { style: plainStyle, nowMs: NOW_MS, maxLines: 50 }).join("\n");

test("the headline of a request says the words of the table, whatever its status and its wait", () => {
  for (const waitReason of REASONS) {
    const planning = requestOf({ status: "PLANNING", waitReason });
    expect(drawn(planning)).toContain(requestLook(planning).word);
    for (const status of Object.keys(STATE_LOOKS.plan)) {
      const request = requestOf({ plan: planOf([stepOf("a")], { status, waitReason }) });
      expect(drawn(request)).toContain(requestLook(request).word);
    }
  }
});

test("the marks are those of the table", () => {
  for (const kind of ["step", "plan", "request"] as const)
    for (const status of Object.keys(STATE_LOOKS[kind]))
      for (const waitReason of REASONS)
        expect(markOf(kind, { status, waitReason }).symbol).toBe(
          stateLook(kind, { status, waitReason }).mark,
        );
});

test("a completed step whose output is not as declared says so at its step", () => {
  const warnings = ["OUTPUT_UNEXPECTED: output.total: declared number, returned string"];
  const request = requestOf({ plan: planOf([stepOf("a", { status: "COMPLETED", warnings })]) });
  expect(drawn(request)).toContain("declared number, returned string");
  expect(progressLines(null, request).join("\n")).toContain("OUTPUT_UNEXPECTED: output.total");
});

test("a call of a dead executor is not shown as running", () => {
  const lost = attemptOf(1, { outcome: "unknown", endedAt: null, durationMs: null });
  const request = requestOf({ plan: planOf([stepOf("a", { status: "RUNNING", attempts: [lost] })]) });
  expect(drawn(request)).toContain("its executor was lost; it waits for the next one");
});

test.each(TIMES)(
  "%d ms of own time and %d ms of people are told everywhere as: %s",
  (durationMs, waited, words) => {
    const times = { durationMs, waitedForPeopleMs: waited, startedAt: later(0), finishedAt: later(9) };
    const step = stepOf("a", { ...times, status: "COMPLETED" });
    const failed = stepOf("a", { ...times, status: "FAILED", error: errorOf("TOOL_FAILED", "full") });
    const plan = planOf([step], { ...times, status: "COMPLETED" });
    const request = requestOf({ status: "COMPLETED", plan });
    const [headline, ofStep] = drawn(request).split("\n");
    expect(headline).toMatch(new RegExp(`  ${words}$`));
    expect(ofStep).toMatch(new RegExp(`a  ${words}$`));
    expect(stepLine(failed, [], { style: plainStyle, nowMs: NOW_MS })).toContain(`a  ${words}  full`);
    expect(progressLines(null, request)).toContain(`  a COMPLETED ${words}`);
    expect(debugReport(factsOf(request), plainStyle)[0]).toMatch(new RegExp(`COMPLETED after ${words}$`));
  },
);

test.each([
  ["runs", { status: "RUNNING" }, "8.0 s, and 2.0 s waiting for people"],
  [
    "waits for an approval",
    { status: "WAITING", waitReason: "approval" },
    "6.0 s, and 4.0 s waiting for people",
  ],
  ["is paused", { status: "PAUSED", waitReason: "paused" }, "6.0 s, and 4.0 s waiting for people"],
  [
    "waits for its next try",
    { status: "WAITING", waitReason: "backoff" },
    "8.0 s, and 2.0 s waiting for people",
  ],
])("of a plan that %s, read 2 s ago, one of its two clocks goes on", (_, state, words) => {
  const steps = [stepOf("a", { status: "WAITING_APPROVAL", approvalHash: "h" })];
  const times = { startedAt: later(0), durationMs: 6_000, waitedForPeopleMs: 2_000 };
  expect(drawn(requestOf({ plan: planOf(steps, { ...times, ...state }) }))).toContain(`  ${words}`);
});

test("planning that went on after an answer is timed from that answer", () => {
  const answers = [{ question: "Whose?", answer: "Ann", at: later(7) }];
  expect(drawn(requestOf({ status: "PLANNING", answers }))).toMatch(/  3\.0 s$/);
});
