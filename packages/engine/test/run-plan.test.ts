import { expect, test } from "vitest";
import {
  createVirtualClock,
  PlanInvalidError,
  type RunEvent,
  type RunResult,
  runPlan,
  type StepRecord,
} from "../src/index.ts";
import { tool, write } from "./simulate.ts";

const STEPS = {
  steps: [
    { id: "a", tool: "t", arguments: { x: 1 } },
    { id: "b", tool: "t", arguments: { x: "<<a.x>>" } },
  ],
};
const echo = (call: { arguments: unknown }) => call.arguments;

test("a plan runs, and the result has states, attempts, warnings and outputs", async () => {
  const result = await runPlan(STEPS, { tools: [tool("t")], callTool: echo });
  expect(result).toEqual({
    status: "COMPLETED",
    steps: {
      a: { status: "COMPLETED", attempts: 1, warnings: [], output: { x: 1 } },
      b: { status: "COMPLETED", attempts: 1, warnings: [], output: { x: 1 } },
    },
    outputs: { a: { x: 1 }, b: { x: 1 } },
  });
});

test("only requested outputs are returned", async () => {
  const result = await runPlan({ ...STEPS, outputs: ["b"] }, { tools: [tool("t")], callTool: echo });
  expect(Object.keys(result.outputs)).toEqual(["b"]);
});

test("an invalid plan is refused before any call", async () => {
  const calls: unknown[] = [];
  const run = runPlan(
    { steps: [{ id: "a", tool: "gone" }] },
    { tools: [tool("t")], callTool: (call) => calls.push(call) },
  );
  await expect(run).rejects.toBeInstanceOf(PlanInvalidError);
  expect(calls).toEqual([]);
});

test.each<[string, unknown, unknown]>([
  ["a plain value", { y: 2 }, { y: 2 }],
  ["nothing", undefined, null],
  ["structured content", { content: [], structuredContent: { id: 7 } }, { id: 7 }],
  ["one text block that is JSON", { content: [{ type: "text", text: '{"id":7}' }] }, { id: 7 }],
  ["text", "007", "007"],
  ["text that is a list", "[1]", [1]],
])("%s is an output", async (_, returned, output) => {
  const result = await runPlan(
    { steps: [{ id: "a", tool: "t" }] },
    { tools: [tool("t")], callTool: () => returned },
  );
  expect(result.outputs["a"]).toEqual(output);
});

test.each<[string, () => unknown, string, string]>([
  [
    "isError",
    () => ({ isError: true, content: [{ type: "text", text: "no such city" }] }),
    "TOOL_FAILED",
    "no such city",
  ],
  [
    "an exception",
    () => {
      throw new TypeError("boom");
    },
    "TOOL_FAILED",
    "boom",
  ],
  [
    "a rejection with a code",
    () => Promise.reject(Object.assign(new TypeError("busy"), { code: "BUSY" })),
    "BUSY",
    "busy",
  ],
  [
    "a value that is not JSON",
    () => {
      const circle: { self?: object } = {};
      circle.self = circle;
      return circle;
    },
    "TOOL_RESULT_INVALID",
    "a value that is not JSON",
  ],
])("%s is a failure", async (_, callTool, code, message) => {
  const result = await runPlan({ steps: [{ id: "a", tool: "w" }] }, { tools: [write("w")], callTool });
  expect(result.status).toBe("FAILED");
  expect(result.steps["a"]).toMatchObject({ status: "FAILED", attempts: 1, error: { code } });
  expect(result.error?.message).toContain(message);
});

test("four calls of half a second take half a second of virtual time, three at once and then one", async () => {
  const clock = createVirtualClock();
  const steps = ["Tokyo", "London", "Paris"].map((city) => ({
    id: city,
    tool: "weather",
    arguments: { city },
  }));
  const plan = {
    steps: [
      ...steps,
      { id: "sum", tool: "summary", arguments: { of: steps.map(({ id }) => `<<${id}.t>>`) } },
    ],
  };
  const result = await runPlan(plan, {
    tools: [tool("weather"), tool("summary")],
    clock,
    callTool: async ({ tool: name, arguments: args }) => {
      if (name === "weather") await clock.sleep(500);
      return name === "weather" ? { t: String(args["city"]).length } : args;
    },
  });
  expect(result.outputs["sum"]).toEqual({ of: [5, 6, 5] });
  expect(clock.now()).toBe(500);
});

test("a call that gives no answer in time fails, sees its signal, and siblings keep their results", async () => {
  const clock = createVirtualClock();
  let wasStopped = false;
  const plan = {
    steps: [
      { id: "slow", tool: "w", timeoutMs: 1_000 },
      { id: "quick", tool: "t" },
    ],
    policy: { onStepFailure: "fail-forward" },
  };
  const result = await runPlan(plan, {
    tools: [tool("t"), write("w")],
    clock,
    callTool: ({ tool: name }, { signal }) => {
      signal.addEventListener("abort", () => {
        wasStopped = true;
      });
      return name === "w" ? new Promise(() => {}) : { ok: true };
    },
  });
  expect(result.status).toBe("PARTIAL");
  expect(result.steps["slow"]).toMatchObject({ status: "FAILED", error: { code: "TOOL_TIMEOUT" } });
  expect(result.outputs).toEqual({ quick: { ok: true } });
  expect(wasStopped).toBe(true);
});

test("a read-only tool that throws is tried three times, with waits", async () => {
  const clock = createVirtualClock();
  let calls = 0;
  const result = await runPlan(
    { steps: [{ id: "a", tool: "t" }] },
    {
      tools: [tool("t")],
      clock,
      random: () => 0.5,
      callTool: () => {
        calls++;
        if (calls < 3) throw new TypeError("not yet");
        return { calls };
      },
    },
  );
  expect(result.steps["a"]).toMatchObject({ status: "COMPLETED", attempts: 3, output: { calls: 3 } });
  expect(clock.now()).toBe(1_500);
});

test("the signal cancels: running calls stop, nothing new starts", async () => {
  const clock = createVirtualClock();
  const controller = new AbortController();
  clock.at(50, () => controller.abort());
  const result = await runPlan(STEPS, {
    tools: [tool("t")],
    clock,
    signal: controller.signal,
    callTool: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new TypeError("stopped")));
      }),
  });
  expect(result.status).toBe("CANCELLED");
  expect(Object.values(result.steps).map(({ status }) => status)).toEqual(["CANCELLED", "CANCELLED"]);
});

test("a tool that does not stop is abandoned after five seconds", async () => {
  const clock = createVirtualClock();
  const controller = new AbortController();
  clock.at(50, () => controller.abort());
  const result = await runPlan(STEPS, {
    tools: [write("t")],
    clock,
    signal: controller.signal,
    callTool: () => new Promise(() => {}),
  });
  expect(result.status).toBe("CANCELLED");
  expect(clock.now()).toBe(5_050);
});

test("a run that was cancelled before it started calls nothing", async () => {
  const result = await runPlan(STEPS, { tools: [tool("t")], callTool: echo, signal: AbortSignal.abort() });
  expect(result.status).toBe("CANCELLED");
});

test("the deadline ends the plan EXPIRED", async () => {
  const clock = createVirtualClock();
  const result = await runPlan(STEPS, {
    tools: [tool("t")],
    clock,
    deadlineMs: 1_000,
    callTool: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new TypeError("stopped")));
      }),
  });
  expect(result.status).toBe("EXPIRED");
});

test.each([
  [undefined, "FAILED"],
  [() => false, "FAILED"],
  [() => true, "COMPLETED"],
])("a call that needs approval with approve = %s is %s", async (approve, status) => {
  const plan = { steps: [{ id: "a", tool: "t", approval: true }] };
  const result = await runPlan(plan, { tools: [tool("t")], callTool: echo, approve });
  expect(result.steps["a"]?.status).toBe(status);
});

test("settleInDoubt decides the result of a lost call", async () => {
  const result = await runPlan(
    { steps: [{ id: "a", tool: "w" }] },
    {
      tools: [write("w")],
      callTool: () => Promise.reject(Object.assign(new TypeError("reset"), { effect: "unknown" })),
      settleInDoubt: () => ({ type: "completed", output: "it was there" }),
    },
  );
  expect(result.outputs).toEqual({ a: "it was there" });
});

test("a callback that throws ends the run with that error", async () => {
  const run = runPlan(STEPS, {
    tools: [tool("t")],
    callTool: echo,
    onEvent: () => {
      throw new RangeError("mine");
    },
  });
  await expect(run).rejects.toThrow("mine");
});

test("events report calls, states and the end in order", async () => {
  const events: RunEvent[] = [];
  await runPlan(STEPS, { tools: [tool("t")], callTool: echo, onEvent: (event) => events.push(event) });
  const reported = events.map((event) => {
    if (event.type === "call.started") return `call ${event.call.key}`;
    if (event.type === "plan.parked") return `parked ${event.reason}`;
    return event.type === "step.changed" ? `${event.record.key} ${event.record.status}` : event.status;
  });
  expect(reported).toEqual(["call a", "a COMPLETED", "call b", "b COMPLETED", "COMPLETED"]);
});

test("a run that was stopped continues from its records, which have the intents of its calls", async () => {
  const sent: string[] = [];
  const records = new Map<string, StepRecord>();
  const tools = [
    tool("t"),
    write("keyed", { idempotency: "key" }),
    write("ask", { requires_approval: true }),
  ];
  const plan = {
    steps: [
      { id: "a", tool: "t", arguments: { x: 1 } },
      { id: "b", tool: "keyed", arguments: { x: "<<a.x>>" } },
      { id: "c", tool: "ask", arguments: { x: "<<b.x>>" } },
    ],
  };
  const run = (until: string) =>
    new Promise<RunResult | string>((resolve, reject) => {
      const stop = (at: string, value: unknown) => {
        if (at !== until) return value;
        resolve(at);
        return new Promise(() => {}); // it never gets an answer
      };
      runPlan(plan, {
        tools,
        records,
        clock: { ...createVirtualClock(), at: () => () => {} }, // a stopped run has no timers
        callTool(call) {
          sent.push(`${call.key} ${call.attempt}`);
          return stop(call.key, call.arguments);
        },
        approve: ({ key }) => stop(`approval of ${key}`, true) as Promise<boolean>,
      }).then(resolve, reject);
    });

  expect(await run("b")).toBe("b");
  expect([...records.values()]).toMatchObject([
    { key: "a", status: "COMPLETED", output: { x: 1 } },
    { key: "b", status: "RUNNING", attempts: 1, mayHaveActed: true },
  ]);
  expect(await run("approval of c")).toBe("approval of c");
  expect(await run("")).toMatchObject({ status: "COMPLETED", outputs: { c: { x: 1 } } });
  expect(sent).toEqual(["a 1", "b 1", "b 2", "c 1"]);
  expect([...records.values()].map(({ status }) => status)).toEqual(["COMPLETED", "COMPLETED", "COMPLETED"]);
});

test("the value that a tool returned is neither changed nor shared", async () => {
  const shared = { list: [1] };
  const result = await runPlan(
    { steps: [{ id: "a", tool: "t" }] },
    { tools: [tool("t")], callTool: () => shared },
  );
  shared.list.push(2);
  expect(result.outputs["a"]).toEqual({ list: [1] });
});

test("items of a forEach are part of the result", async () => {
  const plan = {
    steps: [{ id: "f", forEach: { items: [1, 2], do: { tool: "t", arguments: { x: "<<item>>" } } } }],
  };
  const result = await runPlan(plan, { tools: [tool("t")], callTool: echo });
  expect(result.steps["f"]?.items?.map(({ status }) => status)).toEqual(["COMPLETED", "COMPLETED"]);
});

test.each([
  ["unknown", "EXPIRED", "IN_DOUBT"],
  ["reported", "FAILED", "FAILED"],
])(
  "a call that was aborted and throws with the effect %s is not reported as stopped",
  async (effect, status, step) => {
    const records = new Map<string, StepRecord>();
    const result = await runPlan([{ id: "a", tool: "t" }], {
      tools: [write("t")],
      clock: createVirtualClock(),
      deadlineMs: 50,
      records,
      callTool: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          const error = Object.assign(new TypeError("the connection was closed"), { effect });
          signal.addEventListener("abort", () => reject(error));
        }),
    });
    expect(result).toMatchObject({ status, steps: { a: { status: step } } });
  },
);
