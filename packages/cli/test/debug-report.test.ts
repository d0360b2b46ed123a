import { expect, test } from "vitest";
import { debugReport, timeline } from "../src/report/debug-report.ts";
import { plainStyle } from "../src/terminal.ts";
import {
  attemptOf,
  diagnosisOf,
  errorOf,
  factsOf,
  later,
  planOf,
  REQUEST_ID,
  requestOf,
  stepOf,
} from "./fixtures/requests.ts";

/** A plan of a chain and one independent step; the failed step is in the middle of the plan. */
const FAILED = requestOf({
  status: "FAILED",
  diagnosis: diagnosisOf({
    cause: {
      code: "STEP_FAILED",
      severity: "FAILURE",
      message: "step send failed: no such mailbox (TOOL_FAILED)",
      errorCode: "TOOL_FAILED",
    },
    reasons: ["The tool was called and refused; these are its own words. (2 attempts, 1 skipped)"],
    next: [
      {
        description: "Have the planner make the rest anew, knowing what failed; what completed is kept:",
        operation: "replan",
        arguments: { requestId: REQUEST_ID },
        command: ["replan", REQUEST_ID],
      },
      {
        description: "Correct what it names; then run what did not complete. Completed steps are kept:",
        operation: "rerun",
        arguments: { requestId: REQUEST_ID, arguments: [{ stepId: "send", set: { to: "…" } }] },
        command: ["retry", REQUEST_ID, "--set", "send.to=…"],
      },
    ],
  }),
  plan: planOf(
    [
      stepOf("find", {
        status: "COMPLETED",
        output: { email: "ann@test.com" },
        attempts: [attemptOf(1)],
        durationMs: 12,
        finishedAt: later(4),
      }),
      stepOf("send", {
        status: "FAILED",
        dependsOn: ["find"],
        arguments: { to: "<<find.email>>" },
        resolvedArguments: { to: "ann@test.com" },
        error: errorOf("TOOL_FAILED", "no such mailbox"),
        attempts: [
          attemptOf(2, { outcome: "failed", attempt: 1, error: errorOf("TOOL_RATE_LIMITED", "slow down") }),
          attemptOf(4, { outcome: "failed", attempt: 2, error: errorOf("TOOL_FAILED", "no such mailbox") }),
        ],
        finishedAt: later(7),
      }),
      stepOf("log", {
        status: "SKIPPED",
        dependsOn: ["send"],
        finishedAt: later(7.5),
        error: errorOf("DEPENDENCY_FAILED"),
      }),
      stepOf("count", {
        status: "RUNNING",
        attempts: [attemptOf(1, { outcome: null, endedAt: null, durationMs: null })],
      }),
    ],
    { status: "FAILED", finishedAt: later(8), origin: { kind: "model", model: "openai:x" } },
  ),
});
const REPORT = debugReport(factsOf(FAILED), plainStyle);
/** The lines of a part, without its title. */
const partOf = (title: string): string[] => {
  const from = REPORT.findIndex((line) => line.startsWith(title));
  const to = REPORT.indexOf("", from);
  return REPORT.slice(from + 1, to === -1 ? undefined : to).map((line) => line.trim());
};

test("the parts are in order: the cause, failed steps, open steps, all steps, the timeline", () => {
  const titles = REPORT.filter((line) => /^\S/.test(line)).map((line) => line.replace(/ {2,}.*/, ""));
  expect(titles).toEqual([
    `✖ ${REQUEST_ID}`,
    "Cause",
    "Why",
    "Next",
    "Step send",
    "Step count",
    "Steps",
    "Timeline",
  ]);
});

test("a failed step is shown with its planned arguments, the arguments that were sent, and every attempt", () => {
  expect(partOf("Step send")).toEqual([
    "tool       send",
    'planned    {"to":"<<find.email>>"}',
    'arguments  {"to":"ann@test.com"}',
    "after      find",
    "error      no such mailbox (TOOL_FAILED)",
    `attempt 1  ${later(4)}  failed after 12 ms on host:1:abc: slow down (TOOL_RATE_LIMITED)`,
    `attempt 2  ${later(6)}  failed after 12 ms on host:1:abc: no such mailbox (TOOL_FAILED)`,
  ]);
});

test("the next commands are complete and name this request, each below the sentence that explains it", () => {
  const next = REPORT.slice(
    REPORT.findIndex((line) => line.startsWith("Next")),
    REPORT.indexOf(""),
  );
  expect(next.map((line) => line.slice(8))).toEqual([
    "Have the planner make the rest anew, knowing what failed; what completed is kept:",
    `  planwright replan ${REQUEST_ID}`,
    "Correct what it names; then run what did not complete. Completed steps are kept:",
    `  planwright retry ${REQUEST_ID} --set 'send.to=…'`,
  ]);
});

test("the timeline is in order of time, whatever the order of the record", () => {
  expect(partOf("Timeline")).toEqual([
    "+0.000 s  sentence accepted",
    "+0.100 s  planning began",
    "+1.000 s  planning ended",
    "+1.000 s  queued for an executor",
    "+2.000 s  first taken by an executor",
    "+3.000 s  find called by host:1:abc",
    "+3.000 s  count called by host:1:abc",
    "+4.000 s  find completed after 12 ms",
    "+4.000 s  send called by host:1:abc",
    "+5.000 s  send failed after 12 ms: slow down (TOOL_RATE_LIMITED)",
    "+6.000 s  send attempt 2 called by host:1:abc",
    "+7.000 s  send attempt 2 failed after 12 ms: no such mailbox (TOOL_FAILED)",
    "+7.500 s  log SKIPPED",
    "+8.000 s  plan FAILED",
  ]);
});

test("the timeline does not call an item completed that the answer to its batch reports as failed", () => {
  const item = (index: number, more: Parameters<typeof stepOf>[1]) =>
    stepOf("list", { key: `list[${index}]`, item: index, attempts: [attemptOf(1)], ...more });
  const steps = [
    item(0, { status: "COMPLETED" }),
    item(1, { status: "FAILED", error: errorOf("TOOL_FAILED", "no such product") }),
  ];
  const lines = timeline(requestOf({ plan: planOf(steps) }), 10).join("\n");
  expect(lines).toContain("list[0] completed after 12 ms");
  expect(lines).toContain("list[1] failed after 12 ms: no such product (TOOL_FAILED)");
});

test("a long timeline keeps the latest lines and counts the earlier ones", () => {
  expect(timeline(FAILED, 3)).toEqual([
    "(11 earlier moments: see --json)",
    expect.stringContaining("send attempt 2 failed"),
    expect.stringContaining("log SKIPPED"),
    expect.stringContaining("plan FAILED"),
  ]);
});

test("warnings of a completed step stand below its output", () => {
  const warning = '<<find.gone>>: there is no "gone"; its text is kept';
  const steps = [stepOf("send", { status: "COMPLETED", output: { ok: true }, warnings: [warning] })];
  const facts = factsOf(requestOf({ status: "COMPLETED", plan: planOf(steps, { status: "COMPLETED" }) }));
  const lines = debugReport(facts, plainStyle);
  const at = lines.findIndex((line) => line.includes(`warning ${warning}`));
  expect(lines[at - 1]).toContain('output {"ok":true}');
});
