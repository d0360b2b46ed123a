import { test as check, fc } from "@fast-check/vitest";
import { STEP_ERROR_CODES } from "@planwright/engine";
import {
  PlanSchema,
  PlanStatusSchema,
  RequestStatusSchema,
  StepStatusSchema,
  type ToolDescriptor,
  WaitReasonSchema,
} from "@planwright/plan";
import type { ModelLimits } from "@planwright/store";
import { expect, test } from "vitest";
import { isWellFormed } from "../../src/arguments/text.ts";
import type { Diagnosis, DiagnosisCode, NextAction } from "../../src/diagnosis/diagnosis.ts";
import {
  betterVersion,
  type PlanFact,
  type RequestFact,
  type StepFact,
  type VersionFact,
} from "../../src/diagnosis/facts.ts";
import { diagnose, lostExecutors } from "../../src/diagnosis/read-diagnosis.ts";
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
} from "./facts.ts";

/** The command as typed in a shell. */
const typed = ({ command }: NextAction): string =>
  ["planwright", ...command].map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word}'`)).join(" ");
const causeOf = (request: RequestFact): string => diagnose(factsOf(request)).cause.message;
const commandsOf = ({ next }: Diagnosis): string[] => next.map(typed);

const ended = (
  status: "FAILED" | "PARTIAL" | "CANCELLED" | "EXPIRED",
  steps: StepFact[],
  more: Partial<PlanFact> = {},
): RequestFact =>
  requestOf({
    status: status === "EXPIRED" ? "FAILED" : status,
    plan: planOf(steps, { status, finishedAt: later(8), ...more }),
  });
const failed = (code: string, message?: string) =>
  stepOf("a", {
    status: "FAILED",
    error: errorOf(code, message),
    attempts: [attemptOf(1)],
  });

const CASES: [name: string, code: DiagnosisCode, request: RequestFact, cause: RegExp, next: string][] = [
  [
    "a tool that is down",
    "STEP_FAILED",
    ended("FAILED", [failed("TOOL_UNREACHABLE")]),
    /^step a failed: the tool's message \(TOOL_UNREACHABLE\)$/,
    `planwright retry ${REQUEST_ID}`,
  ],
  [
    "a wrong argument",
    "STEP_FAILED",
    ended("FAILED", [failed("ARGUMENTS_INVALID")]),
    /ARGUMENTS_INVALID/,
    `planwright retry ${REQUEST_ID}`,
  ],
  [
    "a tool that refused",
    "STEP_FAILED",
    ended("FAILED", [failed("TOOL_FAILED")]),
    /TOOL_FAILED/,
    `planwright retry ${REQUEST_ID}`,
  ],
  [
    "a tool's own code",
    "STEP_FAILED",
    ended("FAILED", [failed("EMAIL_TAKEN")]),
    /EMAIL_TAKEN/,
    `planwright retry ${REQUEST_ID}`,
  ],
  [
    "a slow tool",
    "RUNNING",
    requestOf({
      plan: planOf([stepOf("a", { status: "RUNNING", attempts: [attemptOf(1, { endedAt: null })] })]),
    }),
    /^step a has been running for 7.0 s/,
    `planwright watch ${REQUEST_ID}`,
  ],
  [
    "a limit",
    "LIMIT_REACHED",
    requestOf({
      plan: planOf([stepOf("a", { waitReason: "limit" })], { status: "WAITING", waitReason: "limit" }),
    }),
    /^step a waits for a free slot under the limit/,
    "planwright list --status EXECUTING",
  ],
  [
    "a retry",
    "STEP_RETRYING",
    requestOf({ plan: planOf([stepOf("a", { status: "RETRYING", error: errorOf("TOOL_RATE_LIMITED") })]) }),
    /^step a keeps failing: .*TOOL_RATE_LIMITED/,
    `planwright watch ${REQUEST_ID}`,
  ],
  [
    "a server that cannot be reached",
    "SERVER_UNREACHABLE",
    requestOf({
      plan: planOf(
        [
          stepOf("a", {
            status: "RETRYING",
            error: errorOf("TOOL_UNREACHABLE"),
            attempts: [attemptOf(1, { unsent: { tries: 4, since: later(3) } })],
            nextAttemptAt: later(14),
          }),
        ],
        { document: { steps: [], policy: { unreachableMs: 600_000 } as never } },
      ),
    }),
    /^step a waits for its server, which cannot be reached since 2026-11-21T09:28:45\.000Z \(7\.0 s\): .*TOOL_UNREACHABLE/,
    `planwright watch ${REQUEST_ID}`,
  ],
  [
    "an approval",
    "APPROVAL_NEEDED",
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
    "IN_DOUBT",
    requestOf({
      plan: planOf([stepOf("a", { key: "a[3]", item: 3, status: "IN_DOUBT" })], {
        status: "WAITING",
        waitReason: "in doubt",
      }),
    }),
    /^it is not known whether the call of step a\[3\] \(a\) happened/,
    `planwright resolve ${REQUEST_ID} 'a[3]' --completed '"…"'`,
  ],
  [
    "a missing executor",
    "NO_EXECUTOR",
    requestOf({
      plan: planOf([stepOf("a")], { status: "QUEUED", waitReason: "no worker", startedAt: null }),
    }),
    /^no executor has taken the plan, which was queued 9.0 s ago/,
    `planwright watch ${REQUEST_ID}`,
  ],
  [
    "a dead executor",
    "NO_EXECUTOR",
    requestOf({ plan: planOf([stepOf("a")], { waitReason: "no worker" }) }),
    /^the executor that held the plan has died/,
    `planwright watch ${REQUEST_ID}`,
  ],
  [
    "a missing planner",
    "NO_PLANNER",
    requestOf({ status: "PLANNING", waitReason: "no worker" }),
    /^no planner works on the request, which was accepted 10.0 s ago/,
    `planwright watch ${REQUEST_ID}`,
  ],
  [
    "a tenant that has made its model calls of an hour",
    "PLANNING",
    requestOf({
      status: "PLANNING",
      waitReason: "limit",
      modelPause: { maxPerHour: 200, until: new Date("2026-11-26T13:00:00Z") },
    }),
    /^planning waits: the tenant has made its 200 model calls of an hour \(limit\)/,
    `planwright watch ${REQUEST_ID}`,
  ],
  [
    "a poisoned plan",
    "POISONED",
    ended("FAILED", [stepOf("a", { status: "IN_DOUBT" })], { error: errorOf("POISONED") }),
    /^the plan was given up/,
    `planwright retry ${REQUEST_ID}`,
  ],
  [
    "a cancelled plan",
    "CANCELLED",
    ended("CANCELLED", [stepOf("a", { status: "CANCELLED" })]),
    /^the plan was cancelled/,
    `planwright retry ${REQUEST_ID}`,
  ],
  [
    "an expired plan",
    "EXPIRED",
    ended("EXPIRED", [stepOf("a", { status: "CANCELLED" })]),
    /^the plan's deadline passed \(DEADLINE_EXCEEDED\)/,
    `planwright retry ${REQUEST_ID}`,
  ],
  [
    "a plan that is being cancelled while calls run",
    "CANCELLING",
    requestOf({
      plan: planOf([stepOf("a", { status: "RUNNING" }), stepOf("b", { status: "RUNNING" }), stepOf("c")], {
        cancelRequestedAt: later(8),
        pauseRequestedAt: later(7),
      }),
    }),
    /^the plan is being cancelled, since 2026\S+ \(cancelling: waits for 2 running calls\)/,
    `planwright watch ${REQUEST_ID}`,
  ],
  [
    "a plan that is being paused while an item of a list runs",
    "PAUSING",
    requestOf({
      plan: planOf(
        [
          stepOf("a", { status: "RUNNING" }),
          stepOf("a", { key: "a[0]", item: 0, status: "COMPLETED" }),
          stepOf("a", { key: "a[1]", item: 1, status: "RUNNING" }),
        ],
        { pauseRequestedAt: later(8) },
      ),
    }),
    /^the plan is being paused, since 2026\S+ \(pausing: waits for 1 running call\)/,
    `planwright watch ${REQUEST_ID}`,
  ],
  [
    "a paused plan",
    "PAUSED",
    requestOf({ plan: planOf([stepOf("a")], { status: "PAUSED" }) }),
    /^the plan was paused/,
    `planwright resume ${REQUEST_ID}`,
  ],
  [
    "a plan that was not started",
    "NOT_STARTED",
    requestOf({ status: "READY", plan: planOf([stepOf("a")], { status: "READY" }) }),
    /^the plan is stored and was not started/,
    `planwright execute ${REQUEST_ID}`,
  ],
  [
    "questions",
    "INPUT_NEEDED",
    requestOf({ status: "NEEDS_INPUT", questions: ["Which email?"] }),
    /^the planner needs 1 answer/,
    `planwright answer ${REQUEST_ID}`,
  ],
  [
    "a model that refused",
    "PLANNING_FAILED",
    requestOf({ status: "FAILED", error: { code: "MODEL_REFUSED", message: "no" } }),
    /MODEL_REFUSED/,
    "planwright run '<the sentence in other words>'",
  ],
  [
    "a model that is away",
    "PLANNING_FAILED",
    requestOf({ status: "FAILED", error: { code: "MODEL_UNREACHABLE", message: "no" } }),
    /MODEL_UNREACHABLE/,
    `planwright retry ${REQUEST_ID}`,
  ],
  [
    "a model that is away for now",
    "MODEL_AWAY",
    requestOf({
      status: "PLANNING",
      waitReason: "backoff",
      modelWait: {
        error: { code: "MODEL_UNREACHABLE", message: "openai:x cannot be reached (HTTP 500)" },
        since: later(3),
        tries: 4,
        nextAttemptAt: later(14),
        until: later(603),
      },
    }),
    /^planning waits for the model, which has been away since 2026-11-21T09:28:45\.000Z \(7\.0 s\): openai:x cannot be reached \(HTTP 500\) \(MODEL_UNREACHABLE\)$/,
    `planwright cancel ${REQUEST_ID}`,
  ],
  [
    "an answer of a model that is no plan",
    "PLANNING_FAILED",
    requestOf({
      status: "FAILED",
      error: { code: "PLAN_INVALID", message: "The model gave no valid plan: no tool x" },
      diagnostics: [{ code: "TOOL_UNKNOWN", severity: "error", message: "no tool x; write y" }],
    }),
    /^no plan was made: The model gave no valid plan: no tool x \(PLAN_INVALID\)$/,
    `planwright retry ${REQUEST_ID}`,
  ],
  [
    "no tools",
    "PLANNING_FAILED",
    requestOf({ status: "FAILED", error: { code: "NO_TOOLS", message: "no" } }),
    /NO_TOOLS/,
    "planwright tools",
  ],
  [
    "an invalid plan",
    "PLANNING_FAILED",
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
    "PLANNING_FAILED",
    requestOf({ status: "FAILED", error: { code: "NEW_CODE", message: "no" } }),
    /NEW_CODE/,
    "planwright run '<the sentence in other words>'",
  ],
];

test.each(CASES)("%s is %s, with a cause and the command to type", (_, code, request, cause, next) => {
  const diagnosis = diagnose(factsOf(request));
  expect(diagnosis.cause).toMatchObject({ code, message: expect.stringMatching(cause) });
  expect(commandsOf(diagnosis)).toContain(next);
});

test("a plan that a model made is replanned by the model", () => {
  const plan = { origin: { kind: "model", model: "openai:x" } as const };
  const diagnosis = diagnose(factsOf(ended("FAILED", [failed("TOOL_FAILED")], plan)));
  expect(commandsOf(diagnosis)[0]).toBe(`planwright replan ${REQUEST_ID}`);
});

test("the first failure is the cause; in a list step it is the item", () => {
  const items = stepOf("each", {
    status: "FAILED",
    error: errorOf("ITEMS_FAILED"),
    finishedAt: later(3),
  });
  const item = stepOf("each", {
    key: "each[1]",
    item: 1,
    status: "FAILED",
    error: errorOf("TOOL_TIMEOUT"),
    tool: "look",
  });
  const late = { ...failed("TOOL_FAILED"), finishedAt: later(4) };
  const { cause, reasons, stepKeys } = diagnose(factsOf(ended("FAILED", [late, items, item])));
  expect(cause.message).toBe("step each[1] (look) failed: the tool's message (TOOL_TIMEOUT)");
  expect([cause.errorCode, stepKeys]).toEqual(["TOOL_TIMEOUT", ["each[1]"]]);
  expect(reasons[0]).toContain("1 more failed");
});

/** A list step of which only the first item completed. */
function partlyDone(id: string, ...codes: string[]) {
  const item = (index: number, more: Partial<ReturnType<typeof stepOf>>) =>
    stepOf(id, { key: `${id}[${index}]`, item: index, tool: "send", ...more });
  return [
    stepOf(id, { tool: "send", status: "COMPLETED" }),
    item(0, { status: "COMPLETED" }),
    ...codes.map((code, index) => item(index + 1, { status: "FAILED", error: errorOf(code) })),
  ];
}

test("a list step with failed items is named, with the number of failures, their errors, and the command to retry them", () => {
  const steps = [
    ...partlyDone("each", "TOOL_TIMEOUT", "TOOL_TIMEOUT"),
    stepOf("each", { key: "each[3]", item: 3, status: "SKIPPED", error: errorOf("CONDITION_FALSE") }),
    ...partlyDone("more", "NO_SUCH_USER"),
  ];
  const diagnosis = diagnose(factsOf(ended("PARTIAL", steps, { error: errorOf("ITEMS_FAILED") })));
  const { cause, reasons: why, next } = diagnosis;
  expect(cause.message).toBe("2 of 3 items of step each (send) failed: TOOL_TIMEOUT");
  expect(why[0]).toMatch(
    /^Item 1: the tool's message \(TOOL_TIMEOUT\)\. .* Also more \(send\) 1 of 2 items\.$/,
  );
  expect(why[1]).toContain("PARTIAL");
  expect(next).toEqual([
    {
      description: expect.stringContaining("exactly the failed items"),
      operation: "rerun",
      arguments: { requestId: REQUEST_ID },
      command: ["retry", REQUEST_ID],
    },
  ]);
});

test("failed items that would fail again are replanned if a model made the plan, after calls in doubt are settled", () => {
  const steps = partlyDone("each", "NO_SUCH_USER", "GONE");
  const plan = { error: errorOf("ITEMS_FAILED"), origin: { kind: "model", model: "openai:x" } as const };
  const { cause, ...rest } = diagnose(factsOf(ended("PARTIAL", steps, plan)));
  expect(cause.message).toMatch(/failed: NO_SUCH_USER \(1\), GONE \(1\)$/);
  expect(rest.next.map(typed)).toEqual([`planwright retry ${REQUEST_ID}`, `planwright replan ${REQUEST_ID}`]);
  const doubt = stepOf("each", { key: "each[3]", item: 3, status: "IN_DOUBT", attempts: [attemptOf(1)] });
  const inDoubt = diagnose(factsOf(ended("PARTIAL", [...steps, doubt], plan)));
  expect(inDoubt.cause.message).toBe(cause.message.replace("of 3 items", "of 4 items"));
  expect(commandsOf(inDoubt)[0]).toContain(`planwright resolve ${REQUEST_ID} 'each[3]'`);
});

test("a failed plan with a call in doubt is retried only after the doubt is settled", () => {
  const doubt = stepOf("pay", { status: "IN_DOUBT", attempts: [attemptOf(1)] });
  const diagnosis = diagnose(factsOf(ended("FAILED", [failed("TOOL_FAILED"), doubt])));
  expect(commandsOf(diagnosis)[0]).toContain(`planwright resolve ${REQUEST_ID} pay`);
});

test("a call in doubt with an idempotency key is repeated, and needs no operator", () => {
  const doubt = stepOf("pay", { status: "IN_DOUBT", effectClass: "K", attempts: [attemptOf(1)] });
  const waiting = planOf([doubt], { status: "WAITING", waitReason: "in doubt" });
  const running = diagnose(factsOf(requestOf({ plan: waiting })));
  expect(running.reasons).toContain("Called again with the same key, pay acts at most once.");
  expect(commandsOf(running)).toEqual([`planwright resolve ${REQUEST_ID} pay --retry`]);
  const retry = [`planwright retry ${REQUEST_ID}`];
  const retried = diagnose(factsOf(ended("FAILED", [failed("TOOL_UNREACHABLE"), doubt])));
  expect(commandsOf(retried)).toEqual(retry);
  const poisoned = diagnose(factsOf(ended("FAILED", [doubt], { error: errorOf("POISONED") })));
  expect(commandsOf(poisoned)).toEqual(retry);
  const plain = stepOf("mail", { status: "IN_DOUBT", effectClass: "U", attempts: [attemptOf(1)] });
  const both = diagnose(factsOf(ended("FAILED", [failed("TOOL_FAILED"), doubt, plain])));
  expect(commandsOf(both)[0]).toContain(`planwright resolve ${REQUEST_ID} mail --completed`);
});

test("a doubt that an operator has settled is no longer reported", () => {
  const doubt = stepOf("pay", { status: "IN_DOUBT", attempts: [attemptOf(1)] });
  const resolutions = [{ key: "pay", attempt: 1 }];
  const plan = planOf([doubt], { status: "WAITING", waitReason: "in doubt", resolutions });
  expect(causeOf(requestOf({ plan }))).not.toContain("not known");
});

test("a question shows how long it has waited", () => {
  const needsInput = { status: "NEEDS_INPUT", questions: ["Which email?"] } as const;
  const dayAgo = new Date(NOW_MS - 27 * 3_600_000);
  const { cause, since } = diagnose(factsOf(requestOf({ ...needsInput, planningFinishedAt: dayAgo })));
  expect(cause.message).toBe(
    "the planner needs 1 answer before it can continue; it has waited for 27 h 0 min",
  );
  expect(since).toEqual(dayAgo);
});

test("a failed planning suggests that a person writes the plan", () => {
  const refused = { status: "FAILED", error: { code: "MODEL_REFUSED", message: "no" } } as const;
  const { next } = diagnose(factsOf(requestOf(refused)));
  expect(next.map(({ operation }) => operation)).toEqual(["createPlan", "submitPlan"]);
});

const NONE = { maxModelCalls: null, maxTokens: null, maxCostUsd: null };

test.each<[string, ModelLimits, ModelLimits | undefined, object, string, string?]>([
  [
    "four times as high",
    { ...NONE, maxTokens: 10_000, maxCostUsd: 0.5 },
    undefined,
    { limits: { maxTokens: 40_000, maxCostUsd: 2 } },
    "planwright run 'Create author Alice' --max-tokens 40000 --max-cost-usd 2",
  ],
  [
    "enough for a first plan",
    { ...NONE, maxModelCalls: 0 },
    undefined,
    { limits: { maxModelCalls: 4 } },
    "planwright run 'Create author Alice' --max-model-calls 4",
  ],
  [
    "above what the next call needs",
    { ...NONE, maxTokens: 100 },
    undefined,
    { limits: { maxTokens: 60_000 } },
    "planwright run 'Create author Alice' --max-tokens 60000",
    "The limit maxTokens of this request is 100 tokens: 0 tokens used so far, and the next call of openai:x may take 30000 tokens more. Send it again.",
  ],
  [
    "no higher than the service allows",
    { ...NONE, maxTokens: 10_000 },
    { ...NONE, maxTokens: 15_000 },
    { limits: { maxTokens: 15_000 } },
    "planwright run 'Create author Alice' --max-tokens 15000",
  ],
])(
  "a budget that was exceeded is raised: %s",
  (_, modelLimits, serviceLimits, given, command, message = "no") => {
    const error = { code: "BUDGET_EXCEEDED", message };
    const request = requestOf({ status: "FAILED", error, modelLimits });
    const { next } = diagnose({ ...factsOf(request), serviceLimits });
    expect(next.map(typed)).toEqual([command]);
    expect(next[0]?.arguments).toEqual({ query: "Create author Alice", ...given });
  },
);

test("a budget that the service limits is raised in the service first", () => {
  const modelLimits = { ...NONE, maxTokens: 10_000 };
  const error = { code: "BUDGET_EXCEEDED", message: "no" };
  const request = requestOf({ status: "FAILED", error, modelLimits });
  const { next } = diagnose({ ...factsOf(request), serviceLimits: modelLimits });
  expect(next.map(typed)).toEqual(["planwright run 'Create author Alice'"]);
  expect(next[0]?.description).toContain("REQUEST_MAX_");
});

test("arguments that come from an output that is not as declared name the step where that began", () => {
  const warnings = ["OUTPUT_UNEXPECTED: output.total: declared number, returned string"];
  const steps = [
    stepOf("s", { status: "COMPLETED", warnings }),
    stepOf("other", { status: "COMPLETED", warnings }),
    stepOf("c", { status: "FAILED", error: errorOf("ARGUMENTS_INVALID") }),
  ];
  const document = PlanSchema.parse({
    steps: [
      { id: "s", tool: "s" },
      { id: "other", tool: "other" },
      { id: "c", tool: "c", arguments: { amount: "<<s.total>>" } },
    ],
  });
  const { reasons } = diagnose(factsOf(ended("FAILED", steps, { document })));
  expect(reasons).toContain(
    "It uses the output of s, which is not as its server declares it (OUTPUT_UNEXPECTED): output.total: declared number, returned string.",
  );
});

test.each<[string, PlanFact, message: string, reason: string | undefined]>([
  [
    "a list runs since it began, and counts its items",
    planOf([
      stepOf("each", { status: "RUNNING", startedAt: later(4) }),
      stepOf("each", { key: "each[0]", item: 0, status: "COMPLETED" }),
      stepOf("each", {
        key: "each[1]",
        item: 1,
        status: "RUNNING",
        attempts: [attemptOf(3, { endedAt: null })],
      }),
    ]),
    "step each has been running for 6.0 s, 1 of 2 items completed; nothing has failed, 0 of 1 step completed",
    undefined,
  ],
  [
    "a failure beside a running step is not left out",
    planOf([
      stepOf("a", { status: "FAILED" }),
      stepOf("b", { status: "RUNNING", attempts: [attemptOf(1, { endedAt: null })] }),
    ]),
    "step b has been running for 7.0 s; 1 failed, 0 of 2 steps completed",
    undefined,
  ],
  [
    "the timeout of a step may be longer than the policy's",
    planOf([stepOf("a", { status: "RUNNING", attempts: [attemptOf(1, { endedAt: null })] })], {
      document: PlanSchema.parse({ steps: [{ id: "a", tool: "a", timeoutMs: 600_000 }] }),
    }),
    "step a has been running for 7.0 s; nothing has failed, 0 of 1 step completed",
    "The call waits for the answer of its server and is given up after 10 min 0 s.",
  ],
  [
    "a dead holder of a plan is named while others are busy",
    planOf([stepOf("a", { status: "RUNNING", attempts: [attemptOf(1, { endedAt: null })] })], {
      waitReason: "limit",
    }),
    "the executor that held the plan has died; another one takes it over as soon as it has a free slot",
    undefined,
  ],
  [
    "a plan that was handed back has not waited since it was first queued",
    planOf([stepOf("a")], { status: "QUEUED", waitReason: "limit" }),
    "nothing is wrong so far: the plan waits for an executor with a free slot",
    undefined,
  ],
])("%s", (_, plan, message, reason) => {
  const { cause, reasons } = diagnose(factsOf(requestOf({ plan })));
  expect(cause.message).toBe(message);
  if (reason !== undefined) expect(reasons).toContain(reason);
});

const held = (owner: string, more: Partial<Parameters<typeof lostExecutors>[0]>) => ({
  lease: { owner, epoch: 9 },
  claims: 1,
  progressSeen: 0,
  ...more,
});

test.each<[string, Parameters<typeof lostExecutors>[0], finished: number, lost: number]>([
  ["the first holder is alive", held("live", {}), 0, 0],
  ["the first holder is dead", held("dead", {}), 0, 1],
  ["the third holder is alive", held("live", { claims: 3 }), 0, 2],
  ["the third holder is dead", held("dead", { claims: 3 }), 0, 3],
  [
    "a holder died after a step ended, and the next one is alive",
    held("live", { progressSeen: 1, lostAtProgress: 1 }),
    1,
    1,
  ],
  ["two more died after that", held("dead", { progressSeen: 1, lostAtProgress: 1, claims: 2 }), 1, 3],
  ["a step ended under the third holder", held("live", { claims: 3 }), 1, 0],
  ["a step ended under the third holder, which died then", held("dead", { claims: 3 }), 1, 1],
  ["no holder", { ...held("", { claims: 0 }), lease: null }, 0, 0],
])("lost executors in a row: %s", (_, head, finished, lost) => {
  expect(lostExecutors(head, finished, { owners: new Set(["live"]) })).toBe(lost);
});

test("a plan whose executors were lost twice shows them, the running step, and how to stop it", () => {
  const look = stepOf("look", { status: "RUNNING", attempts: [attemptOf(3, { endedAt: null })] });
  const held = diagnose(factsOf(requestOf({ plan: planOf([look], { lostExecutors: 2 }) })));
  expect(held.cause).toMatchObject({
    code: "EXECUTORS_LOST",
    severity: "ATTENTION",
    message: "2 executors that held the plan were lost one after another, and the next one has taken over",
  });
  expect(held.reasons[0]).toBe("No step ended between these losses. Running now: look.");
  expect(held.stepKeys).toEqual(["look"]);
  expect(commandsOf(held)).toEqual([`planwright cancel ${REQUEST_ID}`, "planwright fleet"]);
  const alone = planOf([look], { lostExecutors: 2, waitReason: "no worker" });
  expect(causeOf(requestOf({ plan: alone }))).toContain("no other one has taken over yet");
  expect(causeOf(requestOf({ plan: planOf([look], { lostExecutors: 1 }) }))).not.toContain("lost");
});

const toolOf = (name: string): ToolDescriptor => ({ name, server: "shop", inputSchema: {} });

test.each<[string, object, string]>([
  ["no limit", {}, "Other calls hold every slot."],
  [
    "a rate",
    { rate_limit: { max: 20, per_ms: 1_000 } },
    "The tool's contract allows 20 calls in 1000 ms; other calls have used that up.",
  ],
])("a step that waits under %s is told what holds it", (_, contract, reason) => {
  const plan = planOf([stepOf("a", { tool: "pay", waitReason: "limit" })], {
    status: "WAITING",
    waitReason: "limit",
  });
  const pay = {
    ...toolOf("pay"),
    trusted: true,
    _meta: { "x-orchestration": { mode: "parallel-safe", ...contract } },
  };
  const { reasons } = diagnose({ ...factsOf(requestOf({ plan })), tools: [pay as ToolDescriptor] });
  expect(reasons[0]).toBe(reason);
});

test("an unknown tool is named with the nearest name, which the fix uses in every step", () => {
  const document = {
    steps: [
      { id: "a", tool: "find_user" },
      { id: "b", forEach: { items: [1], do: { tool: "find_user" } } },
      { id: "c", tool: "other" },
    ],
  } as never;
  const missing = stepOf("a", { tool: "find_user", status: "FAILED", error: errorOf("TOOL_NOT_FOUND") });
  const request = ended("FAILED", [missing], { document });
  const near = diagnose({ ...factsOf(request), tools: [toolOf("find_users"), toolOf("other")] });
  expect(near.reasons).toContain("No server offers find_user right now; the nearest name is find_users.");
  expect(near.next[0]).toMatchObject({
    operation: "amendPlan",
    arguments: {
      requestId: REQUEST_ID,
      fromVersion: 1,
      patch: [
        { op: "replace", path: "/steps/0/tool", value: "find_users" },
        { op: "replace", path: "/steps/1/forEach/do/tool", value: "find_users" },
      ],
      execute: true,
    },
  });
  expect(commandsOf(near)[1]).toBe(`planwright retry ${REQUEST_ID}`);
  const far = diagnose({ ...factsOf(request), tools: [toolOf("other")] });
  expect(far.reasons).toContain("No server offers find_user right now.");
  expect(commandsOf(far)).toEqual([`planwright retry ${REQUEST_ID}`]);
  const pinned = (server: string) =>
    ended("FAILED", [missing], { document, toolPins: [{ tool: "find_user", server }] });
  expect(diagnose({ ...factsOf(pinned("shop")), tools: [toolOf("find_users")] }).next[0]).toEqual(
    near.next[0],
  );
  const leftOut = [{ server: "crm", tool: "find_user", reason: "it has no inputSchema" }];
  const listed = diagnose({ ...factsOf(request), tools: [toolOf("find_users")], leftOut });
  expect(listed.reasons).toContain(
    "Server crm lists find_user, but it is left out because it has no inputSchema.",
  );
  expect(commandsOf(listed)).toEqual([`planwright retry ${REQUEST_ID}`]);
  const byModel = ended("FAILED", [missing], { document, origin: { kind: "model", model: "openai:x" } });
  const anew = diagnose({ ...factsOf(byModel), tools: [toolOf("other")] });
  expect(commandsOf(anew)[0]).toBe(`planwright replan ${REQUEST_ID}`);
});

test("a tool whose server is gone is waited for, and no tool of another server is called in its place", () => {
  const gone = stepOf("a", { tool: "find_user", status: "FAILED", error: errorOf("TOOL_NOT_FOUND") });
  const document = { steps: [{ id: "a", tool: "find_user" }] } as never;
  const request = ended("FAILED", [gone], { document, toolPins: [{ tool: "find_user", server: "crm" }] });
  const { reasons, next } = diagnose({ ...factsOf(request), tools: [toolOf("find_users")] });
  expect(reasons).toContain(
    "No tool of server crm is known: it is not in the servers file of the executors, or has another name there.",
  );
  expect(next.map(({ description, command }) => [description, ...command])).toEqual([
    ['Put "crm" back into the servers file of the executors and restart them; then', "retry", REQUEST_ID],
  ]);
});

/** A request whose only step has failed, with its plan and tool. */
function failedCall(
  code: string,
  message: string,
  { step = {}, inputSchema = {}, ...more }: { step?: object; inputSchema?: object } & Partial<PlanFact> = {},
): Diagnosis {
  const document = {
    steps: [
      { id: "mail", tool: "send", arguments: { to: "bob@x.org", text: "Hello" }, dependsOn: ["a"], ...step },
    ],
  } as never;
  const mail = stepOf("mail", { tool: "send", status: "FAILED", error: errorOf(code, message) });
  const request = ended("FAILED", [mail], { document, ...more });
  return diagnose({ ...factsOf(request), tools: [{ ...toolOf("send"), inputSchema } as ToolDescriptor] });
}

const RETRY = `planwright retry ${REQUEST_ID}`;
const ofModel = { origin: { kind: "model", model: "openai:x" } } as const;

test.each<[string, Diagnosis, string[]]>([
  [
    "the error names",
    failedCall("TOOL_FAILED", "The field TO is wrong"),
    [`${RETRY} --set 'mail.to=…'`, RETRY],
  ],
  [
    "has the value in the error",
    failedCall("BOUNCED", "bob@x.org bounced"),
    [`${RETRY} --set 'mail.to=…'`, RETRY],
  ],
  [
    "the tool requires since it has changed",
    failedCall("TOOL_CHANGED", "changed", { inputSchema: { required: ["to", "from"] } }),
    [`${RETRY} --set 'mail.from=…'`, "planwright tools send"],
  ],
  [
    "is unchanged, in a tool that has changed",
    failedCall("TOOL_CHANGED", "changed"),
    [RETRY, "planwright tools send"],
  ],
  [
    "has the reference",
    failedCall("REFERENCE_MISSING", "no such field", { step: { arguments: { n: 1, to: "<<a.mail>>" } } }),
    [`${RETRY} --set 'mail.to=…'`, RETRY],
  ],
  ["is only guessed", failedCall("TOOL_FAILED", "no"), [RETRY, `${RETRY} --set 'mail.to=…'`]],
  [
    "a model may know",
    failedCall("TOOL_FAILED", "no", ofModel),
    [`planwright replan ${REQUEST_ID}`, `${RETRY} --set 'mail.to=…'`],
  ],
  [
    "the error names, in the plan of a model",
    failedCall("TOOL_FAILED", "no such text", ofModel),
    [`${RETRY} --set 'mail.text=…'`, `planwright replan ${REQUEST_ID}`],
  ],
  ["of a call without arguments", failedCall("TOOL_FAILED", "no", { step: { arguments: {} } }), [RETRY]],
])("a call that would fail again continues with the argument that %s", (_, diagnosis, commands) => {
  expect(commandsOf(diagnosis)).toEqual(commands);
  expect(diagnosis.next.map(({ operation }) => operation)).not.toContain("submitPlan");
});

test.each([
  ["CONDITION_INVALID", "/steps/0/when"],
  ["ITEMS_INVALID", "/steps/0/forEach/items"],
])("after %s the plan is continued with another %s", (code, path) => {
  const { next } = failedCall(code, "no");
  expect(next[0]).toMatchObject({
    operation: "amendPlan",
    arguments: { requestId: REQUEST_ID, fromVersion: 1, patch: [{ op: "replace", path, value: "…" }] },
  });
});

test("a field that an earlier step lacks is asked for again, and an effect is named", () => {
  const { next } = failedCall("CONTRACT_FIELD_MISSING", "no document_id");
  expect(next.map(typed)[0]).toBe(`${RETRY} --from a`);
});

test("the sample of an output comes from the schema of the tool, or from what it returned before", () => {
  const sampleFor = (tool: Partial<ToolDescriptor>) => {
    const doubt = stepOf("pay", { status: "IN_DOUBT" });
    const request = requestOf({ plan: planOf([doubt], { status: "WAITING", waitReason: "in doubt" }) });
    const { next } = diagnose({
      ...factsOf(request),
      tools: [{ ...toolOf("pay"), ...tool } as ToolDescriptor],
    });
    return next[0]?.command.at(-1);
  };
  const properties = { id: { type: "string" }, note: { type: "string" } };
  expect(sampleFor({ outputSchema: { type: "object", properties, required: ["id"] } })).toBe('{"id":"…"}');
  expect(sampleFor({ outputSchema: { type: "object", properties } })).toBe('{"id":"…","note":"…"}');
  expect(sampleFor({ outputSchema: { type: "object" } })).toBe('{"…":"…"}');
  expect(sampleFor({ outputSchema: { type: "number" } })).toBe('"…"');
  const seen = { types: { object: 2 }, fields: { receipt: { types: { text: 2 } } } } as never;
  expect(sampleFor({ observedOutput: seen })).toBe('{"receipt":"…"}');
  const noFields = { outputSchema: { type: "object", properties: {}, additionalProperties: {} } };
  expect(sampleFor({ ...noFields, observedOutput: seen })).toBe('{"receipt":"…"}');
});

test("a version that did worse than an earlier one says so, and restoring the earlier one comes first", () => {
  const done = stepOf("a", { status: "COMPLETED" });
  const steps = [done, { ...failed("TOOL_FAILED"), id: "b", key: "b" }, stepOf("c", { status: "SKIPPED" })];
  const worseVersion = {
    ...ended("FAILED", steps),
    version: 2,
    better: { version: 1, steps: 2, completed: 1 },
  };
  const { cause, reasons, next } = diagnose(factsOf(worseVersion));
  expect(cause.code).toBe("STEP_FAILED");
  expect(reasons[0]).toBe(
    "Version 2 did worse than version 1: 2 of 3 steps did not complete, of version 1 it was 1 of 2.",
  );
  expect(next.map(typed)).toEqual([
    `planwright amend ${REQUEST_ID} --restore 1 --from-version 2 --execute`,
    `planwright retry ${REQUEST_ID}`,
  ]);
  expect(next[0]).toMatchObject({
    operation: "amendPlan",
    arguments: { requestId: REQUEST_ID, restoreVersion: 1, fromVersion: 2, execute: true },
  });
});

const versionOf = (version: number, steps: number, completed: number): VersionFact => ({
  version,
  steps,
  completed,
});

test.each<[string, VersionFact, VersionFact[], number | undefined]>([
  ["more steps left and none more done", versionOf(2, 3, 1), [versionOf(1, 2, 1)], 1],
  ["as many left", versionOf(2, 3, 2), [versionOf(1, 2, 1)], undefined],
  ["more left, but more done", versionOf(2, 6, 3), [versionOf(1, 2, 1)], undefined],
  [
    "the best of several",
    versionOf(4, 5, 1),
    [versionOf(3, 4, 1), versionOf(2, 2, 1), versionOf(1, 3, 1)],
    2,
  ],
  ["the newest of the best", versionOf(3, 5, 1), [versionOf(2, 2, 1), versionOf(1, 2, 1)], 2],
])("the version to go back to: %s", (_, current, earlier, expected) => {
  expect(betterVersion(current, earlier)?.version).toBe(expected);
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

check.prop([anyRequest])("in every state there is one cause on one line, and a next action", (request) => {
  const { cause, reasons, next } = diagnose(factsOf(request));
  expect(cause.message).toMatch(/^.+$/);
  expect(reasons.length).toBeLessThanOrEqual(3);
  expect(next.length).toBeGreaterThan(0);
  expect(next.every(({ command, operation }) => command.length > 0 && operation !== "")).toBe(true);
});

test.each<[string, object, object, number | null, string]>([
  ["the step's own timeout", { timeoutMs: 600_000 }, {}, null, "after 10 min 0 s."],
  ["the timeout of the policy", {}, {}, null, "after 1 min 0 s."],
  ["the plan's deadline", { timeoutMs: 600_000 }, {}, 33, "after 30.0 s, at the plan's deadline."],
])("a running call is given up by the first limit that applies: %s", (_, step, policy, deadline, text) => {
  const document = {
    steps: [{ id: "a", tool: "a", arguments: {}, dependsOn: [], ...step }],
    policy: { stepTimeoutMs: 60_000, ...policy },
  } as never;
  const running = stepOf("a", { status: "RUNNING", attempts: [attemptOf(1, { endedAt: null })] });
  const plan = planOf([running], { document, deadlineAt: deadline === null ? null : later(deadline) });
  const [reason] = diagnose(factsOf(requestOf({ plan }))).reasons;
  expect(reason).toMatch(new RegExp(`given up ${text}$`));
});

test("an unreachable server is given up at the plan's deadline when that comes first", () => {
  const step = stepOf("a", {
    status: "RETRYING",
    error: errorOf("TOOL_UNREACHABLE"),
    attempts: [attemptOf(1, { unsent: { tries: 4, since: later(3) } })],
  });
  const document = { steps: [], policy: { unreachableMs: 600_000 } } as never;
  const plan = planOf([step], { document, deadlineAt: later(120) });
  const reasons = diagnose(factsOf(requestOf({ plan }))).reasons.join(" ");
  expect(reasons).toContain(`given up at ${later(120).toISOString()} (the plan's deadline)`);
});

test.each([
  ["waiting", { status: "WAITING", waitReason: "approval" }, /^It would call a with .* It expires at (\S+) /],
  [
    "paused",
    { status: "PAUSED" },
    /^Nothing starts .* goes on: that of step a expires at (\S+) \(policy approvalTimeoutMs\)\.$/,
  ],
] as const)("an approval of a plan that is %s says when it expires", (_, state, text) => {
  const waiting = {
    status: "WAITING_APPROVAL",
    approvalHash: "0123456789abcdef",
    expiresAt: later(99),
  } as const;
  const plan = planOf([stepOf("a", waiting)], state);
  const reasons = diagnose(factsOf(requestOf({ plan }))).reasons.join(" ");
  expect(text.exec(reasons)?.[1]).toBe(later(99).toISOString());
});

test("a sentence that is to be sent again is the complete one, in its own lines", () => {
  const query = `Create author Alice,\nand then ${"a post about gardens, ".repeat(300)}end`;
  const error = { code: "BUDGET_EXCEEDED", message: "too much" };
  const limits = { ...NONE, maxTokens: 10_000 };
  const exceeded = diagnose(factsOf(requestOf({ status: "FAILED", query, error, modelLimits: limits })));
  const cancelled = diagnose(factsOf(requestOf({ status: "CANCELLED", query })));
  for (const { next } of [exceeded, cancelled]) {
    expect(next[0]).toMatchObject({ operation: "createPlan", arguments: { query } });
    expect(next[0]?.command.slice(0, 2)).toEqual(["run", query]);
  }
});

test("an output that is not as declared is blamed only if the failed step uses it", () => {
  const warnings = ["OUTPUT_UNEXPECTED: name is missing"];
  const done = (id: string) => stepOf(id, { status: "COMPLETED", warnings });
  const mail = stepOf("mail", { status: "FAILED", error: errorOf("REFERENCE_MISSING") });
  const blamed = (text: string): string => {
    const document = {
      steps: [
        { id: "a", tool: "a", arguments: {}, dependsOn: [] },
        { id: "ab", tool: "ab", arguments: {}, dependsOn: [] },
        { id: "mail", tool: "mail", arguments: { to: text }, dependsOn: ["ab"] },
      ],
    } as never;
    const request = ended("FAILED", [done("a"), done("ab"), mail], { document });
    return diagnose(factsOf(request)).reasons.join(" ");
  };
  expect(blamed("<<ab.name>>")).toContain("It uses the output of ab, which is not as its server declares it");
  expect(blamed("<<a.name>>")).toContain("It uses the output of a, which");
  expect(blamed("a.name")).not.toContain("It uses the output");
});

test("a missing field is asked of the step that lacks it, and not of another one that would act again", () => {
  const document = {
    steps: [
      { id: "pay", tool: "pay", arguments: {}, dependsOn: [] },
      { id: "load", tool: "load", arguments: {}, dependsOn: [] },
      { id: "mail", tool: "send", arguments: {}, dependsOn: ["pay", "load"] },
    ],
  } as never;
  const nextAfter = (message: string) => {
    const mail = stepOf("mail", {
      tool: "send",
      status: "FAILED",
      error: errorOf("CONTRACT_FIELD_MISSING", message),
    });
    const pay = stepOf("pay", { status: "COMPLETED", effect: "done", effectClass: "U" });
    return diagnose(factsOf(ended("FAILED", [pay, mail], { document })));
  };
  const named = nextAfter(
    "send was not called: it needs id of load (required_fields), and the output of 'load' has none",
  );
  expect(commandsOf(named)[0]).toBe(`${RETRY} --from load`);
  expect(JSON.stringify(nextAfter("no id").next)).not.toContain("pay");
});

test("a text that is cut keeps whole characters", () => {
  const message = `${"x".repeat(299)}😀${"y".repeat(300)}`;
  const { cause } = diagnose(factsOf(ended("FAILED", [failed("TOOL_FAILED", message)])));
  expect(cause.message).toContain(`${"x".repeat(299)} …`);
  expect(isWellFormed(cause.message)).toBe(true);
  const spaces = `${" ".repeat(1_199)}😀${"y".repeat(300)}`;
  const other = diagnose(factsOf(ended("FAILED", [failed("TOOL_FAILED", spaces)])));
  expect(isWellFormed(other.cause.message)).toBe(true);
});

test.each(["EXECUTOR_LOST", "ANSWER_LOST"])(
  "a call that is made again after %s is not to be settled: that would be refused",
  (code) => {
    const step = stepOf("a", { status: "RETRYING", error: errorOf(code), attempts: [attemptOf(1)] });
    const { reasons, next } = diagnose(factsOf(requestOf({ plan: planOf([step]) })));
    expect(next.map(({ description, command }) => [description, ...command])).toEqual([
      ["Follow it:", "watch", REQUEST_ID],
    ]);
    expect(reasons).toEqual([
      "Another call of it is safe.",
      "1 attempt so far; it is tried again at any moment, by itself.",
    ]);
  },
);

test("what only a plan that has ended can follow is not the advice for a step that is tried again", () => {
  const step = stepOf("a", { status: "RETRYING", error: errorOf("TOOL_FAILED"), attempts: [attemptOf(1)] });
  const { next } = diagnose(factsOf(requestOf({ plan: planOf([step]) })));
  expect(next[0]?.description).toBe("Follow it:");
});

test("a call that its look-up could not find is not said to have no look-up", () => {
  const doubt = stepOf("pay", { status: "IN_DOUBT", effectClass: "V", attempts: [attemptOf(1)] });
  const plan = planOf([doubt], { status: "WAITING", waitReason: "in doubt" });
  const { reasons } = diagnose(factsOf(requestOf({ plan })));
  expect(reasons[1]).toBe(
    "No look-up has told whether it happened, and calling pay again is not safe, so the plan waits.",
  );
});

test.each([
  ["cancelled", { cancelRequestedAt: later(8) }],
  ["paused", { pauseRequestedAt: later(8) }],
])("a plan that is to be %s waits for an executor if none is alive", (_, asked) => {
  const running = stepOf("a", { status: "RUNNING", attempts: [attemptOf(1, { endedAt: null })] });
  const { cause, reasons, next } = diagnose(
    factsOf(requestOf({ plan: planOf([running], { waitReason: "no worker", ...asked }) })),
  );
  expect(cause).toMatchObject({ code: "NO_EXECUTOR", severity: "ATTENTION" });
  expect(reasons.join(" ")).toMatch(/(cancelled|paused) as soon as an executor has taken it/);
  expect(next[0]?.description).toContain("Start an executor");
});

test("a plan that was handed back and that no executor can continue says so", () => {
  const plan = planOf([stepOf("a", { status: "RETRYING", error: errorOf("TOOL_RATE_LIMITED") })], {
    status: "WAITING",
    waitReason: "no worker",
  });
  expect(causeOf(requestOf({ plan }))).toBe(
    "no executor is there to continue the plan, which was handed back while it waited (no worker)",
  );
});

test("a plan that is about to be stored is not said to be invalid, and is not to be submitted again", () => {
  const accepted = { status: "EXECUTING", source: "plan", query: null, plan: null } as const;
  const { cause, next } = diagnose(factsOf(requestOf(accepted)));
  expect(cause).toMatchObject({ code: "RUNNING", severity: "PROGRESS" });
  expect(next.map(({ operation }) => operation)).toEqual(["requestUpdated"]);
});
