import type { ToolDescriptor } from "@planwright/plan";
import { createLogger } from "@planwright/runtime";
import type { LearnedOutput } from "@planwright/store";
import { expect, test } from "vitest";
import { createOutputRecorder, type SeenOutput } from "./output-recorder.ts";

const tool: ToolDescriptor = { name: "find", server: "s" };

/** A recorder whose time passes when the test says so, and what it has written. */
function startRecorder({ fails = false } = {}) {
  const written: LearnedOutput[][] = [];
  const timers: (() => void)[] = [];
  const recorder = createOutputRecorder({
    store: {
      async learnOutputs(learned) {
        if (fails) throw new TypeError("MongoDB is away");
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

test("what was learned of all tools goes out in one write", async () => {
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

test("of many outputs a few are looked at, and once a shape is known one", async () => {
  const { written, note, pass } = startRecorder();
  const looks = () => written.map(([only]) => only?.shape.types.object);
  for (let round = 0; round < 15; round += 1) {
    for (let count = 0; count < 500; count += 1) note();
    pass();
  }
  await expect.poll(looks).toEqual([...Array(12).fill(8), 4, 1, 1]);
});

test.each<[string, Partial<SeenOutput>]>([
  ["a tool that is not known", { tool: undefined }],
  [
    "a tool whose schema says it all",
    { tool: { ...tool, outputSchema: { type: "object", properties: { id: { type: "string" } } } } },
  ],
  [
    "the items of a batch",
    {
      tool: { ...tool, override: { batch: { param: "ids", max: 10 } } },
      isItem: true,
    },
  ],
])("of %s nothing is learned", async (_, more) => {
  const { recorder, written, note } = startRecorder();
  note(more);
  await recorder.stop();
  expect(written).toEqual([]);
});

test("a write that fails is given up, and the next one continues", async () => {
  const { recorder, note, pass } = startRecorder({ fails: true });
  note();
  pass();
  note();
  await expect(recorder.stop()).resolves.toBeUndefined();
});
