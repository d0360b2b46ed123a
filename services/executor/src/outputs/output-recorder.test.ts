import type { ToolDescriptor } from "@planwright/plan";
import { createLogger } from "@planwright/runtime";
import type { LearnedOutput } from "@planwright/store";
import { expect, test } from "vitest";
import { createOutputRecorder, type SeenOutput } from "./output-recorder.ts";

const tool: ToolDescriptor = { name: "find", server: "s" };

/**
 * A recorder whose timer fires when the test calls `pass`, and its writes.
 * @param firstWrite - until when the first write lasts. Default: it ends at once
 */
function startRecorder({ fails = false, firstWrite }: { fails?: boolean; firstWrite?: Promise<void> } = {}) {
  const written: LearnedOutput[][] = [];
  let lasting = firstWrite;
  const timers: (() => void)[] = [];
  const recorder = createOutputRecorder({
    store: {
      async learnOutputs(learned) {
        if (fails) throw new TypeError("MongoDB is away");
        const until = lasting;
        lasting = undefined;
        if (until) await until;
        written.push([...learned]);
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
  const note = (more: Partial<SeenOutput> = {}) =>
    recorder.note({ tenant: "t1", tool, isItem: false, output: { id: 1 }, ...more });
  return { recorder, written, note, pass: () => timers[0]?.() };
}

test("the shapes of all tools are written in one write", async () => {
  const { recorder, written, note, pass } = startRecorder();
  note();
  note({ output: { id: 2, next: "x" } });
  note({ tool: { ...tool, name: "open" } });
  note({ tenant: "t2" });
  expect(written).toEqual([]);
  pass();
  await recorder.stop();
  expect(written.map((write) => write.map((each) => [each.tenant, each.tool]))).toEqual([
    [
      ["t1", "find"],
      ["t1", "open"],
      ["t2", "find"],
    ],
  ]);
  expect(written[0]?.[0]?.shape).toEqual({
    types: { object: 2 },
    fields: { id: { types: { integer: 2 } }, next: { types: { string: 1 } } },
  });
});

test("a few of many outputs are examined, and only one after the shape is known", async () => {
  const { written, note, pass } = startRecorder();
  const looks = () => written.map(([only]) => only?.shape.types.object);
  for (let round = 0; round < 15; round += 1) {
    for (let count = 0; count < 500; count += 1) note();
    pass();
  }
  await expect.poll(looks).toEqual([...Array(12).fill(8), 4, 1, 1]);
});

test.each<[string, Partial<SeenOutput>]>([
  ["an unknown tool", { tool: undefined }],
  [
    "a tool whose schema fully describes the output",
    { tool: { ...tool, outputSchema: { type: "object", properties: { id: { type: "string" } } } } },
  ],
  [
    "the items of a batch",
    {
      tool: { ...tool, override: { batch: { param: "ids", max: 10 } } },
      isItem: true,
    },
  ],
])("nothing is learned from %s", async (_, more) => {
  const { recorder, written, note } = startRecorder();
  note(more);
  await recorder.stop();
  expect(written).toEqual([]);
});

test("a failed write is dropped, and the recorder continues", async () => {
  const { recorder, note, pass } = startRecorder({ fails: true });
  note();
  pass();
  note();
  await expect(recorder.stop()).resolves.toBeUndefined();
});

test("the end waits for a write that takes longer than the one after it", async () => {
  let endFirst = (): void => undefined;
  const firstWrite = new Promise<void>((resolve) => void (endFirst = resolve));
  const { recorder, note, pass } = startRecorder({ firstWrite });
  for (const _ of [1, 2]) {
    note();
    pass();
  }
  let hasStopped = false;
  const stopped = recorder.stop().then(() => void (hasStopped = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(hasStopped).toBe(false);
  endFirst();
  await stopped;
});
