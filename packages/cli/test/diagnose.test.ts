import { test as check, fc } from "@fast-check/vitest";
import { STEP_ERROR_CODES } from "@planwright/engine";
import { PlanStatusSchema, RequestStatusSchema, StepStatusSchema, WaitReasonSchema } from "@planwright/plan";
import { expect, test } from "vitest";
import type { RequestSnapshot } from "../src/api/request-snapshot.ts";
import { debugReport } from "../src/report/debug-report.ts";
import { diagnose } from "../src/report/diagnose.ts";
import { plainStyle } from "../src/terminal/style.ts";
import {
  attemptOf,
  errorOf,
  factsOf,
  later,
  planOf,
  REQUEST_ID,
  requestOf,
  stepOf,
} from "./fixtures/requests.ts";

const over = (status: string, ...rest: Parameters<typeof planOf>): RequestSnapshot =>
  requestOf({
    status,
    plan: planOf(rest[0], { status, finishedAt: "2026-11-21T09:28:50.000Z", ...rest[1] }),
  });
const failed = (code: string, message?: string) =>
  stepOf("a", {
    status: "FAILED",
    error: errorOf(code, message),
    attempts: [attemptOf(1, { outcome: "failed" })],
  });

const CASES: [name: string, request: RequestSnapshot, cause: RegExp, next: string][] = [
  [
    "a tool that is down",
    over("FAILED", [failed("TOOL_UNREACHABLE")]),
    /^step a failed: what the tool said \(TOOL_UNREACHABLE\)$/,
    `planwright retry ${REQUEST_ID}`,
  ],
  [
    "a wrong argument",
    over("FAILED", [failed("ARGUMENTS_INVALID")]),
    /ARGUMENTS_INVALID/,
    "planwright run '<the corrected sentence>'",
  ],
  [
    "a tool that refused",
    over("FAILED", [failed("TOOL_FAILED")]),
    /TOOL_FAILED/,
    "planwright run '<the corrected sentence>'",
  ],
  [
    "a tool's own code",
    over("FAILED", [failed("EMAIL_TAKEN")]),
    /EMAIL_TAKEN/,
    "planwright run '<the corrected sentence>'",
  ],
  [
    "a slow tool",
    requestOf({
      plan: planOf([
        stepOf("a", { status: "RUNNING", attempts: [attemptOf(1, { outcome: null, endedAt: null })] }),
      ]),
    }),
    /^step a has been running for 7.0 s/,
    `planwright watch ${REQUEST_ID}`,
  ],
  [
    "a limit",
    requestOf({
      plan: planOf([stepOf("a", { waitReason: "limit" })], { status: "WAITING", waitReason: "limit" }),
    }),
    /^step a waits for a free place under the limit/,
    "planwright list --status EXECUTING",
  ],
  [
    "a retry",
    requestOf({ plan: planOf([stepOf("a", { status: "RETRYING", error: errorOf("TOOL_RATE_LIMITED") })]) }),
    /^step a keeps failing: .*TOOL_RATE_LIMITED/,
    `planwright watch ${REQUEST_ID}`,
  ],
  [
    "a server that cannot be reached",
    requestOf({
      plan: planOf(
        [
          stepOf("a", {
            status: "RETRYING",
            error: errorOf("TOOL_UNREACHABLE"),
            attempts: [attemptOf(1, { outcome: "failed", unsent: { tries: 4, since: later(3) } })],
            nextAttemptAt: later(14),
          }),
        ],
        { document: { policy: { unreachableMs: 600_000 } } },
      ),
    }),
    /^step a waits for its server, which cannot be reached since 2026-11-21T09:28:45\.000Z \(7\.0 s\): .*TOOL_UNREACHABLE/,
    `planwright watch ${REQUEST_ID}`,
  ],
  [
    "an approval",
    requestOf({
      plan: planOf([stepOf("a", { status: "WAITING_APPROVAL", approvalHash: "0123456789abcdef" })], {
        status: "WAITING",
        waitReason: "approval",
      }),
    }),
    /^step a waits for an approval/,
    `planwright approve ${REQUEST_ID} a --hash 0123456789ab`,
  ],
  [
    "a doubt",
    requestOf({
      plan: planOf([stepOf("a", { key: "a[3]", item: 3, status: "IN_DOUBT" })], {
        status: "WAITING",
        waitReason: "in doubt",
      }),
    }),
    /^it is not known whether the call of step a\[3\] \(a\) happened/,
    `planwright resolve ${REQUEST_ID} 'a[3]' --completed '{"_id":"…"}'`,
  ],
  [
    "a missing executor",
    requestOf({ plan: planOf([stepOf("a")], { status: "QUEUED", waitReason: "no worker" }) }),
    /^no executor has taken the plan, which was queued 9.0 s ago/,
    `planwright watch ${REQUEST_ID}`,
  ],
  [
    "a dead executor",
    requestOf({ plan: planOf([stepOf("a")], { waitReason: "no worker" }) }),
    /^the executor that held the plan is gone/,
    `planwright watch ${REQUEST_ID}`,
  ],
  [
    "a missing planner",
    requestOf({ status: "PLANNING", waitReason: "no worker" }),
    /^no planner works on the request, which was accepted 10.0 s ago/,
    `planwright watch ${REQUEST_ID}`,
  ],
  [
    "a poisoned plan",
    over("FAILED", [stepOf("a", { status: "IN_DOUBT" })], { error: errorOf("POISONED") }),
    /^the plan was given up/,
    `planwright retry ${REQUEST_ID}`,
  ],
  [
    "a cancelled plan",
    over("CANCELLED", [stepOf("a", { status: "CANCELLED" })]),
    /^the plan was cancelled/,
    `planwright retry ${REQUEST_ID}`,
  ],
  [
    "an expired plan",
    over("EXPIRED", [stepOf("a", { status: "CANCELLED" })]),
    /^the plan's deadline passed after 8.0 s/,
    `planwright retry ${REQUEST_ID}`,
  ],
  [
    "a plan that is being cancelled while calls run",
    requestOf({
      plan: planOf([stepOf("a", { status: "RUNNING" }), stepOf("b", { status: "RUNNING" }), stepOf("c")], {
        cancelRequestedAt: "2026-11-21T09:28:50.000Z",
        pauseRequestedAt: "2026-11-21T09:28:49.000Z",
      }),
    }),
    /^the plan is being cancelled, since 2026\S+ \(cancelling: waits for 2 running calls\)/,
    `planwright watch ${REQUEST_ID}`,
  ],
  [
    "a plan that is being paused while an item of a list runs",
    requestOf({
      plan: planOf(
        [
          stepOf("a", { status: "RUNNING" }),
          stepOf("a", { key: "a[0]", item: 0, status: "COMPLETED" }),
          stepOf("a", { key: "a[1]", item: 1, status: "RUNNING" }),
        ],
        { pauseRequestedAt: "2026-11-21T09:28:50.000Z" },
      ),
    }),
    /^the plan is being paused, since 2026\S+ \(pausing: waits for 1 running call\)/,
    `planwright watch ${REQUEST_ID}`,
  ],
  [
    "a paused plan",
    requestOf({ plan: planOf([stepOf("a")], { status: "PAUSED" }) }),
    /^the plan was paused/,
    `planwright resume ${REQUEST_ID}`,
  ],
  [
    "a plan that was not started",
    requestOf({ status: "READY", autoExecute: false, plan: planOf([stepOf("a")], { status: "READY" }) }),
    /^the plan is stored and was not started/,
    `planwright execute ${REQUEST_ID}`,
  ],
  [
    "questions",
    requestOf({ status: "NEEDS_INPUT", questions: ["Which email?"] }),
    /^the planner needs 1 answer/,
    `planwright answer ${REQUEST_ID}`,
  ],
  [
    "a model that refused",
    requestOf({ status: "FAILED", error: { code: "MODEL_REFUSED", message: "no" } }),
    /MODEL_REFUSED/,
    "planwright run '<the sentence in other words>'",
  ],
  [
    "a model that is away",
    requestOf({ status: "FAILED", error: { code: "MODEL_UNREACHABLE", message: "no" } }),
    /MODEL_UNREACHABLE/,
    "planwright run 'Create author Alice'",
  ],
  [
    "no tools",
    requestOf({ status: "FAILED", error: { code: "NO_TOOLS", message: "no" } }),
    /NO_TOOLS/,
    "planwright tools",
  ],
  [
    "an invalid plan",
    requestOf({
      status: "FAILED",
      source: "plan",
      query: null,
      error: { code: "PLAN_INVALID", message: "no" },
      diagnostics: [{ code: "TOOL_UNKNOWN", severity: "error", message: "no tool x" }],
    }),
    /^no tool x \(TOOL_UNKNOWN\)$/,
    "planwright submit plan.json --execute",
  ],
  [
    "a code that is not known yet",
    requestOf({ status: "FAILED", error: { code: "NEW_CODE", message: "no" } }),
    /NEW_CODE/,
    "planwright run '<the sentence in other words>'",
  ],
];

test.each(CASES)("%s is named with the command to type, in ten lines", (_, request, cause, next) => {
  const facts = factsOf(request);
  expect(diagnose(facts).cause).toMatch(cause);
  const head = debugReport(facts, plainStyle)
    .slice(0, 10)
    .map((line) => line.trim());
  expect(head).toContain(next);
  expect(head.some((line) => line.startsWith("Cause "))).toBe(true);
});

test("a plan that a model made is made anew by it", () => {
  const plan = { origin: { kind: "model", model: "openai:x" } };
  const { next } = diagnose(factsOf(over("FAILED", [failed("TOOL_FAILED")], plan)));
  expect(next[0]?.command).toBe(`planwright replan ${REQUEST_ID}`);
});

test("what failed first is the cause, and of a list the item", () => {
  const items = stepOf("each", {
    status: "FAILED",
    error: errorOf("ITEMS_FAILED"),
    finishedAt: "2026-11-21T09:28:45.000Z",
  });
  const item = stepOf("each", {
    key: "each[1]",
    item: 1,
    status: "FAILED",
    error: errorOf("TOOL_TIMEOUT"),
    tool: "look",
  });
  const late = { ...failed("TOOL_FAILED"), finishedAt: "2026-11-21T09:28:46.000Z" };
  const { cause, why } = diagnose(factsOf(over("FAILED", [late, items, item])));
  expect(cause).toBe("step each[1] (look) failed: what the tool said (TOOL_TIMEOUT)");
  expect(why[0]).toContain("1 more failed");
});

/** A list that completed with its first item alone. */
function partlyDone(id: string, ...codes: string[]) {
  const item = (index: number, more: Partial<ReturnType<typeof stepOf>>) =>
    stepOf(id, { key: `${id}[${index}]`, item: index, tool: "send", ...more });
  return [
    stepOf(id, { tool: "send", status: "COMPLETED" }),
    item(0, { status: "COMPLETED" }),
    ...codes.map((code, index) => item(index + 1, { status: "FAILED", error: errorOf(code) })),
  ];
}

test("a list that completed with failed items is named, with how many failed, of what, and how to call them again", () => {
  const steps = [
    ...partlyDone("each", "TOOL_TIMEOUT", "TOOL_TIMEOUT"),
    ...partlyDone("more", "NO_SUCH_USER"),
  ];
  const { cause, why, next } = diagnose(factsOf(over("PARTIAL", steps, { error: errorOf("ITEMS_FAILED") })));
  expect(cause).toBe("2 of 3 items of step each (send) failed: TOOL_TIMEOUT");
  expect(why[0]).toMatch(
    /^Item 1: what the tool said \(TOOL_TIMEOUT\)\. .* Also more \(send\) 1 of 2 items\.$/,
  );
  expect(why[1]).toContain("PARTIAL");
  expect(next).toEqual([
    { say: expect.stringContaining("exactly the failed items"), command: `planwright retry ${REQUEST_ID}` },
  ]);
});

test("failed items that would fail again may be planned anew where a model made the plan, and doubts come first", () => {
  const steps = partlyDone("each", "NO_SUCH_USER", "GONE");
  const plan = { error: errorOf("ITEMS_FAILED"), origin: { kind: "model", model: "openai:x" } };
  const { cause, next } = diagnose(factsOf(over("PARTIAL", steps, plan)));
  expect(cause).toMatch(/failed: NO_SUCH_USER \(1\), GONE \(1\)$/);
  expect(next.map(({ command }) => command)).toEqual([
    `planwright retry ${REQUEST_ID}`,
    `planwright replan ${REQUEST_ID}`,
  ]);
  const doubt = stepOf("each", { key: "each[3]", item: 3, status: "IN_DOUBT", attempts: [attemptOf(1)] });
  const inDoubt = diagnose(factsOf(over("PARTIAL", [...steps, doubt], plan)));
  expect(inDoubt.cause).toBe(cause.replace("of 3 items", "of 4 items"));
  expect(inDoubt.next[0]?.command).toContain(`planwright resolve ${REQUEST_ID} 'each[3]'`);
});

test("a plan that failed with a doubt left is retried only once the doubt is settled", () => {
  const doubt = stepOf("pay", { status: "IN_DOUBT", attempts: [attemptOf(1)] });
  const { next } = diagnose(factsOf(over("FAILED", [failed("TOOL_FAILED"), doubt])));
  expect(next[0]?.command).toContain(`planwright resolve ${REQUEST_ID} pay`);
});

test("a call in doubt that bears a key is called again, and no operator has to look", () => {
  const doubt = stepOf("pay", { status: "IN_DOUBT", effectClass: "K", attempts: [attemptOf(1)] });
  const waiting = planOf([doubt], { status: "WAITING", waitReason: "in doubt" });
  const running = diagnose(factsOf(requestOf({ plan: waiting })));
  expect(running.why).toContain("Called again under the same key, pay acts once at most.");
  expect(running.next.map(({ command }) => command)).toEqual([
    `planwright resolve ${REQUEST_ID} pay --retry`,
  ]);
  const retry = [`planwright retry ${REQUEST_ID}`];
  const ended = diagnose(factsOf(over("FAILED", [failed("TOOL_UNREACHABLE"), doubt])));
  expect(ended.next.map(({ command }) => command)).toEqual(retry);
  const poisoned = diagnose(factsOf(over("FAILED", [doubt], { error: errorOf("POISONED") })));
  expect(poisoned.next.map(({ command }) => command)).toEqual(retry);
  const plain = stepOf("mail", { status: "IN_DOUBT", effectClass: "U", attempts: [attemptOf(1)] });
  const both = diagnose(factsOf(over("FAILED", [failed("TOOL_FAILED"), doubt, plain])));
  expect(both.next[0]?.command).toContain(`planwright resolve ${REQUEST_ID} mail --completed`);
});

test("a doubt that an operator settled is none any more", () => {
  const doubt = stepOf("pay", { status: "IN_DOUBT", attempts: [attemptOf(1)] });
  const resolutions = [
    { stepKey: "pay", attempt: 1, resolution: "retry", by: "api", at: "2026-11-21T09:28:51.000Z" },
  ];
  const plan = planOf([doubt], { status: "WAITING", waitReason: "in doubt", resolutions });
  expect(diagnose(factsOf(requestOf({ plan }))).cause).not.toContain("not known");
});

const anyStep = fc
  .record({
    status: fc.constantFrom(...StepStatusSchema.options),
    code: fc.constantFrom(...STEP_ERROR_CODES, "OWN_CODE"),
    message: fc.string({ unit: "binary", maxLength: 2_000 }),
    waitReason: fc.option(fc.constantFrom(...WaitReasonSchema.options)),
  })
  .map(({ status, code, message, waitReason }) =>
    stepOf("s", { status, waitReason, error: status === "COMPLETED" ? null : errorOf(code, message) }),
  );
const anyRequest = fc
  .record({
    status: fc.constantFrom(...RequestStatusSchema.options),
    planStatus: fc.constantFrom(...PlanStatusSchema.options),
    query: fc.option(fc.string({ unit: "binary", maxLength: 2_000 })),
    questions: fc.array(fc.string({ unit: "binary", maxLength: 500 }), { maxLength: 3 }),
    hasPlan: fc.boolean(),
    error: fc.option(
      fc.record({ code: fc.constantFrom("MODEL_REFUSED", "POISONED", "X"), message: fc.string() }),
    ),
    steps: fc.array(anyStep, { maxLength: 4 }),
  })
  .map(({ status, planStatus, query, questions, hasPlan, error, steps }) => {
    const numbered = steps.map((step, index) => ({ ...step, id: `s${index}`, key: `s${index}` }));
    const plan = hasPlan ? planOf(numbered, { status: planStatus }) : null;
    return requestOf({ status, query, questions, error, plan });
  });

check.prop([anyRequest])(
  "whatever the state, the head has a cause and a command, and no line is two",
  (request) => {
    const lines = debugReport(factsOf(request), plainStyle);
    expect(lines[2]).toMatch(/^Cause {3}./);
    expect(lines.slice(0, 10).some((line) => /^ {10}planwright /.test(line))).toBe(true);
    expect(lines.filter((line) => /[\p{Cc}\p{Cf}]/u.test(line))).toEqual([]);
  },
);
