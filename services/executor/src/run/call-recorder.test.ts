import type { ToolDescriptor } from "@planwright/plan";
import { createLogger } from "@planwright/runtime";
import { type CountedCalls, latencyBucket } from "@planwright/store";
import { expect, test } from "vitest";
import { createCallRecorder, type EndedCall } from "./call-recorder.ts";

const tool: ToolDescriptor = { name: "find", server: "s" };
const AT = Date.parse("2026-11-24T10:20:30.000Z");

/** A recorder whose timer fires when the test calls `pass`, and its writes. */
function startRecorder({ fails = false } = {}) {
  const written: CountedCalls[][] = [];
  const timers: (() => void)[] = [];
  const recorder = createCallRecorder({
    store: {
      async addToolCalls(counted) {
        if (fails) throw new TypeError("MongoDB is away");
        written.push([...counted]);
      },
    },
    logger: createLogger({ service: "test", level: "silent" }),
    clock: {
      after(_delayMs, then) {
        timers.push(then);
        return () => void timers.splice(timers.indexOf(then), 1);
      },
    },
  });
  function note({
    end,
    ...more
  }: Omit<Partial<EndedCall>, "end"> & { end?: Partial<EndedCall["end"]> } = {}) {
    const ended = { endedAtMs: AT, durationMs: 100, outcome: "completed", error: null, ...end } as const;
    recorder.note({ tenant: "t1", tool, isProcessed: true, ...more, end: ended });
  }
  return { recorder, written, note, pass: () => timers[0]?.(), timers };
}

const failedWith = (code: string) =>
  ({ outcome: "failed", error: { code, message: "no", retryable: false } }) as const;

test("calls of all tools and tenants are written in one write, each hour separately", async () => {
  const { recorder, written, note, pass } = startRecorder();
  note();
  note({ end: { durationMs: 9_000, endedAtMs: AT + 1 } });
  note({ tool: { name: "s/open", server: "s", _meta: {} } });
  note({ tenant: "t2" });
  note({ end: { endedAtMs: AT + 3_600_000 } });
  expect(written).toEqual([]);
  pass();
  await recorder.stop();
  const [only, ...others] = written;
  expect(others).toEqual([]);
  expect(only?.[0]).toEqual({
    tenant: "t1",
    server: "s",
    tool: "find",
    hour: new Date("2026-11-24T10:00:00.000Z"),
    calls: 2,
    failures: 0,
    durations: { [latencyBucket(100)]: 1, [latencyBucket(9_000)]: 1 },
    durationSums: { [latencyBucket(100)]: 100, [latencyBucket(9_000)]: 9_000 },
    errors: {},
    lastAt: new Date(AT + 1),
  });
  expect(only?.map(({ tenant, tool: name, hour }) => [tenant, name, hour.getUTCHours()])).toEqual([
    ["t1", "find", 10],
    ["t1", "open", 10],
    ["t2", "find", 10],
    ["t1", "find", 11],
  ]);
});

test("failures are counted by code, and calls in doubt are failures", async () => {
  const { recorder, written, note } = startRecorder();
  note();
  note({ end: failedWith("TOOL_FAILED") });
  note({ end: { ...failedWith("TOOL_TIMEOUT"), outcome: "unknown" } });
  await recorder.stop();
  expect(written[0]).toMatchObject([
    {
      calls: 3,
      failures: 2,
      errors: { TOOL_FAILED: 1, TOOL_TIMEOUT: 1 },
      durations: { [latencyBucket(100)]: 3 },
    },
  ]);
});

test("a call that the tool did not process is a failure without a duration", async () => {
  const { recorder, written, note } = startRecorder();
  note({ end: failedWith("TOOL_UNREACHABLE"), isProcessed: false });
  await recorder.stop();
  expect(written[0]).toMatchObject([{ calls: 1, failures: 1, durations: {}, durationSums: {} }]);
});

test.each<[string, Parameters<ReturnType<typeof startRecorder>["note"]>[0]]>([
  ["a call that was aborted", { end: { outcome: "aborted" } }],
  ["a call of a tool that is no longer known", { tool: undefined }],
])("%s is not counted", async (_, call) => {
  const { recorder, written, note, timers } = startRecorder();
  note(call);
  await recorder.stop();
  expect({ written, timers }).toEqual({ written: [], timers: [] });
});

test("the number of codes from tools is limited, and texts that are not codes are not kept", async () => {
  const { recorder, written, note } = startRecorder();
  for (let count = 0; count < 150; count += 1) note({ end: failedWith(`E${count}`) });
  note({ end: failedWith("alice@test.com is $taken.") });
  note({ end: failedWith("TOOL_FAILED") });
  await recorder.stop();
  const { errors = {} } = written[0]?.[0] ?? {};
  expect(Object.keys(errors)).toHaveLength(102);
  expect(errors).toMatchObject({ E0: 1, E99: 1, other: 51, TOOL_FAILED: 1 });
});

test("a code with the name of a method that every object has is counted like any other", async () => {
  const { recorder, written, note } = startRecorder();
  note({ end: failedWith("constructor") });
  note({ end: failedWith("constructor") });
  await recorder.stop();
  expect(Object.entries(written[0]?.[0]?.errors ?? {})).toEqual([["constructor", 2]]);
});

test("counts of many tools are written early, so that memory is bounded", async () => {
  const { recorder, written, note, timers } = startRecorder();
  for (let count = 0; count < 4_500; count += 1) note({ tool: { name: `t${count}`, server: "s" } });
  await recorder.stop();
  expect(written.map((counted) => counted.length)).toEqual([2_000, 2_000, 500]);
  expect(timers).toEqual([]);
});

test("a failed write loses only its own counts", async () => {
  const { recorder, note, pass } = startRecorder({ fails: true });
  note();
  pass();
  note();
  await recorder.stop();
});
