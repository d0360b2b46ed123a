/**
 * Advice does no harm. For every error code, with nothing done, something done, or something that may have
 * acted, the first command that `debug` prints is run: no effect happens twice without being named in it, and
 * the request makes progress.
 *
 * The failures are written by an executor that this test plays, because many codes need faults that cannot be
 * caused in seconds. The commands, the API, the next executor and the tools are the real ones.
 */
import { randomUUID } from "node:crypto";
import { createClient, graphql } from "@planwright/client";
import { type Effect, STEP_ERROR_CODES, type StepError, type StepErrorCode } from "@planwright/engine";
import { type JsonObject, type PlanId, parsePlan, type RequestId } from "@planwright/plan";
import { createStore, type PlanClaim, type Store } from "@planwright/store";
import { eventually, startWholeSystem, testAndProof, type WholeSystem } from "@planwright/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CommandContext } from "../src/commands/command-context.ts";
import { createProgram } from "../src/program.ts";
import { createCommandLine } from "../src/report/format.ts";
import { plainStyle } from "../src/terminal.ts";

const DONE = ["nothing done", "something done", "something possible"] as const;

/** How a request failed. */
interface Case {
  code: StepErrorCode;
  done: (typeof DONE)[number];
  /** Numbers that only calls of this request have. */
  values: { first: number; second: number; third: number };
}

/** Codes of steps that are skipped because of another one, never the first failure. */
const FOLLOWS: ReadonlySet<StepErrorCode> = new Set(["DEPENDENCY_FAILED", "CONDITION_FALSE", "PLAN_FAILED"]);
/** Codes of calls that are in doubt. */
const IN_DOUBT: ReadonlySet<StepErrorCode> = new Set([
  "TOOL_CONNECTION_LOST",
  "ANSWER_LOST",
  "EXECUTOR_LOST",
]);
/** Codes of calls that acted. */
const ACTED: ReadonlySet<StepErrorCode> = new Set(["TOOL_RESULT_INVALID", "TOOL_RESULT_TOO_LARGE"]);

const CASES: Case[] = STEP_ERROR_CODES.filter((code) => !FOLLOWS.has(code)).flatMap((code, index) =>
  DONE.map((done, more) => {
    const base = 1_000 * (1 + index) + 100 * more;
    return { code, done, values: { first: base + 1, second: base + 2, third: base + 3 } };
  }),
);

/** A value for each place in which a printed command has a placeholder. */
function filledIn(word: string, { values }: Case): string {
  if (!word.includes("…")) return word;
  const inJson = word.includes('/when"')
    ? { exists: "<<first.value>>" }
    : word.includes('/forEach/items"')
      ? [values.second]
      : word.includes('"/outputs"')
        ? ["second"]
        : values.second;
  return word
    .replaceAll('"…":', '"value":')
    .replaceAll('"…"', JSON.stringify(inJson))
    .replaceAll("…", String(values.second));
}

let system: WholeSystem;
let store: Store;
const client = { url: "" };
beforeAll(async () => {
  system = await startWholeSystem();
  store = await createStore({ url: system.mongodbUrl });
  client.url = system.apiUrl;
});
afterAll(async () => {
  await store?.close();
  await system?.close();
});

/** Runs a command in this process, and returns its exit code and what it prints. */
async function run(...args: string[]): Promise<{ exitCode: number; printed: string }> {
  const lines: string[] = [];
  let exitCode = 0;
  const print = (more: readonly string[]) => void lines.push(...more);
  const program = createProgram({
    version: "0",
    print: (text) => void lines.push(text),
    performLocally: async () => undefined,
    async perform(_options, _isUrlGiven, command) {
      const output = {
        isTerminal: false,
        columns: 100,
        rows: 24,
        style: plainStyle,
        print,
        printJson: (value: unknown) => void lines.push(JSON.stringify(value)),
        note: print,
      };
      const context = {
        client: createClient({ url: client.url }),
        output,
        isJson: false,
        canAsk: false,
        command: createCommandLine({ program: "planwright" }),
        signal: new AbortController().signal,
        now: Date.now,
      } as unknown as CommandContext;
      exitCode = await command(context);
    },
  });
  program.exitOverride();
  for (const one of program.commands) one.copyInheritedSettings(program);
  await program.parseAsync(args, { from: "user" });
  return { exitCode, printed: lines.join("\n") };
}

const SUBMIT = graphql(
  `mutation ($plan: JSON!) { submitPlan(plan: $plan, execute: true) { requestId planId } }`,
);
const READ = graphql(`query ($requestId: ID!) {
  request(requestId: $requestId) { status plan { steps { key status } } }
}`);

/** The plan: the second step fails, after the first and beside the third. */
function planOf({ code, done, values }: Case): JsonObject {
  const acts = (id: string, value: number, more: object = {}) => ({
    id,
    tool: "plain_effect",
    arguments: { value },
    ...more,
  });
  const isList = code === "ITEMS_INVALID" || code === "ITEMS_TOO_LARGE" || code === "ITEMS_FAILED";
  const list = {
    items: [values.second],
    as: "one",
    do: { tool: "plain_effect", arguments: { value: "<<one>>" } },
  };
  const second = isList
    ? { id: "second", dependsOn: ["first"], forEach: list }
    : acts("second", values.second, {
        dependsOn: ["first"],
        arguments: { value: values.second, reference: "<<first.value>>" },
        ...(code === "CONDITION_INVALID" && { when: { exists: "<<first.value>>" } }),
      });
  return {
    policy: { onStepFailure: "fail-forward" },
    outputs: { value: "<<first.value>>" },
    steps: [
      done === "something done"
        ? acts("first", values.first)
        : { id: "first", tool: "read_value", arguments: { value: values.first } },
      second,
      ...(done === "something possible" ? [acts("third", values.third)] : []),
    ],
  } as JsonObject;
}

/** Plays an executor for a plan until it fails in the way of the case. */
async function fail(one: Case, planId: PlanId): Promise<void> {
  const { code, done, values } = one;
  const claim = await eventually(async () => (await store.claimPlan(planId, "planted")) ?? undefined);
  const error: StepError = { code, message: `no: ${code} of this step`, retryable: false };
  const first = done === "something done" ? ("done" as const) : null;
  await play(claim, "first", { value: values.first }, { status: "COMPLETED", effect: first });
  if (done === "something possible") {
    const refused = { code: "TOOL_FAILED", message: "time-out", retryable: false };
    await play(
      claim,
      "third",
      { value: values.third },
      { status: "FAILED", effect: "possible", error: refused },
    );
  }
  if (code === "OUTPUT_UNRESOLVED") {
    await play(claim, "second", { value: values.second }, { status: "COMPLETED", effect: "done" });
  } else if (code === "CANCELLED" || code === "DEADLINE_EXCEEDED") {
    await store.writeRecords(claim, [{ ...named("second"), status: "CANCELLED", attempts: 0, error }], []);
  } else {
    const status = IN_DOUBT.has(code) ? ("IN_DOUBT" as const) : ("FAILED" as const);
    const effect = ACTED.has(code) ? ("done" as const) : ("none" as const);
    const args = { value: values.second };
    if (status === "FAILED" && effect === "none" && code !== "TOOL_FAILED")
      await store.writeRecords(claim, [{ ...named("second"), status, attempts: 0, error }], []);
    else await play(claim, "second", args, { status, effect, error });
  }
  const ended = code === "CANCELLED" ? "CANCELLED" : code === "DEADLINE_EXCEEDED" ? "EXPIRED" : "FAILED";
  await store.finishPlan(claim, { type: "finish", status: ended, outputs: {}, error });
}

const named = (id: string) => ({ key: id, stepId: id });

async function play(
  claim: PlanClaim,
  id: string,
  args: JsonObject,
  end: { status: "COMPLETED" | "FAILED" | "IN_DOUBT"; effect: Effect | null; error?: StepError },
): Promise<void> {
  const attemptId = randomUUID();
  const mayAct = end.effect !== null;
  const effectClass = mayAct ? ("U" as const) : ("R" as const);
  const tool = mayAct ? "plain_effect" : "read_value";
  const call = { ...named(id), attempt: 1, tool, arguments: args, effectClass, mayAct, timeoutMs: 1_000 };
  await store.writeIntents(claim, [{ call, attemptId, argsHash: "planted" }]);
  const { status, error, effect } = end;
  const record = { ...named(id), status, attempts: 1, ...(error ? { error } : { output: args }) };
  const facts = { key: id, attemptId, endedAtMs: store.now(), durationMs: 5 };
  const attempt = error
    ? { ...facts, outcome: "failed" as const, error, effect: effect ?? ("none" as const) }
    : { ...facts, outcome: "completed" as const, error: null };
  await store.writeRecords(claim, [record], status === "IN_DOUBT" ? [] : [attempt]);
}

/** A case, and what its first command did. */
interface Followed extends Case {
  requestId: string;
  report: string;
  words: string[];
  exitCode: number | string;
}

/** Plants the failure of a case, and runs the first command that its report prints. */
async function followAdvice(one: Case): Promise<Followed> {
  const api = createClient({ url: client.url });
  const { requestId, planId } = (await api.execute(SUBMIT, { plan: planOf(one) })).submitPlan;
  await fail(one, planId as PlanId);
  const { printed: report } = await run("debug", requestId);
  const words = firstCommand(report).map((word) => filledIn(word, one));
  const { exitCode } = await run(...words).catch((error: unknown) => ({ exitCode: String(error) }));
  return { ...one, requestId, report, words, exitCode };
}

/** The first command of the report, as a shell reads its words. */
function firstCommand(report: string): string[] {
  const line = /^ {10}planwright (.*)$/m.exec(report)?.[1] ?? "";
  return [...line.matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g)].map(([, text, word]) => text ?? word ?? "");
}

const nameOf = ({ code, done }: Case) => `${code}, ${done}`;
/** For `npm test`: every code, after one of the things that were done. */
const EACH_CODE = CASES.filter(
  (_, index) => index % DONE.length === Math.floor(index / DONE.length) % DONE.length,
);

for (const { cases, options } of testAndProof(CASES, nameOf, EACH_CODE.map(nameOf)))
  test(`the first command of every failure continues its request and repeats nothing that it does not name (${cases.length} failures)`, {
    timeout: 240_000,
    ...options,
  }, async () => {
    const followed: Followed[] = [];
    await system.restartExecutor(async () => {
      const left = [...cases];
      const worker = async () => {
        for (let one = left.shift(); one; one = left.shift()) followed.push(await followAdvice(one));
      };
      await Promise.all(Array.from({ length: 4 }, worker));
    });
    const harm: object[] = [];
    for (const one of followed) {
      const { code, done, requestId, report, words, exitCode, values } = one;
      const read = exitCode === 0 ? await atRest(requestId) : null;
      const effects = (await system.tools.ledger()).map(({ arguments: args }) => args["value"]);
      const countOf = (value: number) => effects.filter((each) => each === value).length;
      const isNamed = (id: string) =>
        words.some((word, index) => word === id && words[index - 1] === "--repeat");
      const mayActNow = (id: string): number => {
        const hasActed = id !== "second" || ACTED.has(code) || code === "OUTPUT_UNRESOLVED";
        return !hasActed || isNamed(id) ? 1 : 0;
      };
      const repeated = (["first", "second", "third"] as const).filter(
        (id) => countOf(values[id]) > mayActNow(id),
      );
      const open = read?.plan?.steps.filter(({ status }) => status !== "COMPLETED").map(({ key }) => key);
      // A doubt is settled first; running the rest of the plan is the next command.
      const isSettled = words[0] === "resolve" && open?.includes("second") === false;
      const isFurther = read?.status === "COMPLETED" || isSettled;
      if (exitCode !== 0 || !words.includes(requestId) || repeated.length > 0 || !isFurther)
        harm.push({ code, done, exitCode, words, repeated, status: read?.status, open, report });
    }
    expect(harm).toEqual([]);
  });

/** Failures of planning that a further try may end; and an answer that is no plan. */
const MODEL_CODES = [
  "MODEL_UNREACHABLE",
  "MODEL_RATE_LIMITED",
  "MODEL_TIMEOUT",
  "MODEL_UNAUTHORIZED",
  "MODEL_NOT_FOUND",
  "MODEL_QUOTA_EXHAUSTED",
  "MODEL_ENDPOINT_WRONG",
  "MODEL_REQUEST_INVALID",
  "MODEL_ANSWER_TRUNCATED",
  "MODEL_ANSWER_UNREADABLE",
  "PLAN_INVALID",
  "NOT_UNDERSTOOD",
  "POISONED",
];

const CREATE = graphql(
  `mutation ($query: String!) { createPlan(query: $query, execute: true) { requestId } }`,
);

/** One of those that a further try may end, and each of the others. */
const MODEL_CODES_IN_TEST = ["MODEL_UNREACHABLE", "MODEL_ANSWER_UNREADABLE", "PLAN_INVALID", "POISONED"];

for (const { cases, options } of testAndProof(MODEL_CODES, (code) => code, MODEL_CODES_IN_TEST))
  test.each(cases)(
    "the first command after %s plans the same sentence again, which then runs once",
    options,
    async (code) => {
      const api = createClient({ url: client.url });
      const value = 90_000 + MODEL_CODES.indexOf(code);
      const query = `Have value ${value} in effect`;
      const requestId = (await api.execute(CREATE, { query })).createPlan.requestId as RequestId;
      const claimed = () =>
        eventually(async () => (await store.claimRequest(requestId, "planted")) ?? undefined);
      const origin = { kind: "model", model: "openai:x" } as const;
      const isAnswered = code === "PLAN_INVALID" || code.startsWith("MODEL_ANSWER");
      await store.failPlanning(await claimed(), {
        error: { code, message: `no: ${code}` },
        diagnostics: [],
        raw: isAnswered ? '{"what the model":\n"answered"}' : null,
        plan: null,
        origin,
      });
      const { printed: report } = await run("debug", requestId);
      expect(firstCommand(report)).toEqual(["retry", requestId]);
      // The answer as it came, line by line.
      expect(report.includes('  {"what the model":\n  "answered"}')).toBe(isAnswered);
      expect(await run("retry", requestId)).toEqual({
        exitCode: 0,
        printed: expect.stringContaining(`${requestId}: it is planned again`),
      });

      const claim = await claimed();
      expect(claim.request).toMatchObject({ query, version: isAnswered ? 2 : 1 });
      const parsed = parsePlan([{ id: "a", tool: "plain_effect", arguments: { value } }]);
      if (!parsed.ok) throw new TypeError("it is a plan");
      await store.completePlanning(claim, { plan: parsed.plan, raw: null, origin, diagnostics: [] });
      expect(await atRest(requestId)).toMatchObject({ status: "COMPLETED" });
      const effects = (await system.tools.ledger()).filter((one) => one.arguments["value"] === value);
      expect(effects).toHaveLength(1);
    },
  );

function atRest(requestId: string) {
  const api = createClient({ url: client.url });
  return eventually(async () => {
    const now = await api.readRequest(READ, requestId);
    return ["EXECUTING", "READY"].includes(now.status) ? undefined : now;
  });
}
