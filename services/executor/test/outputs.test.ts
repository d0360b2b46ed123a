import { createHash } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openWorkbench, SOON_DEAD, TENANT, type Workbench } from "./executor-process.ts";

const MIB = 1_048_576;
let bench: Workbench;

beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(async () => {
  await bench.close();
});

test("a large output outlives its executor: dependent steps get the same bytes, and its tool is not called again", async () => {
  bench.tools.script({
    read_value: [{ type: "huge", bytes: 3 * MIB }],
    keyed_effect: [{ type: "hang", effect: false }],
  });
  const first = await bench.startProcess(SOON_DEAD);
  const { _id: planId } = await bench.submit([
    { id: "read", tool: "read_value", arguments: {} },
    { id: "effect", tool: "keyed_effect", arguments: { value: "<<read.text>>" } },
    { id: "after", tool: "read_value", arguments: { value: "<<effect.effect>>" } },
  ]);
  await expect.poll(() => bench.tools.stats()["keyed_effect"]?.calls).toBe(1);
  await bench.stopExecutor(first, "SIGKILL");
  await bench.startExecutor();
  const { plan, steps } = await bench.end(planId);

  expect(plan).toMatchObject({ status: "COMPLETED", outputs: null });
  expect(bench.tools.stats()["read_value"]?.calls).toBe(2);
  const text = "x".repeat(3 * MIB);
  const [entry] = await bench.tools.ledger();
  expect(entry?.argsHash).toBe(sha256({ value: text }));
  expect(steps.get("effect")).toMatchObject({
    argsHash: sha256({ value: text }),
    arguments: { sizeBytes: 3 * MIB + 12, preview: expect.any(String) },
    attempts: [{ attempt: 1 }, { attempt: 2 }],
  });
  const ref = steps.get("read")?.outputRef;
  expect(ref).toMatchObject({ id: `${planId}/read@1`, parts: 13 });
  const outputs = await bench.store.readOutputs(TENANT, ref ? [ref] : []);
  expect(outputs.get(ref?.id ?? "")).toEqual({ tool: "read_value", value: null, text });
});

test("an output of 8 MiB is kept; a larger one fails its step with the size, the limit and a remedy", async () => {
  // {"tool":"read_value","value":null,"text":"…"}
  const around = 44;
  bench.tools.script({
    read_value: [
      { type: "huge", bytes: 8 * MIB - around },
      { type: "huge", bytes: 8 * MIB - around + 1 },
    ],
  });
  await bench.startExecutor();
  const { _id: planId } = await bench.submit({
    steps: [
      { id: "fits", tool: "read_value", arguments: {} },
      { id: "large", tool: "read_value", arguments: {}, dependsOn: ["fits"] },
    ],
  });
  const { plan, steps } = await bench.end(planId);
  expect(plan.status).toBe("PARTIAL");
  expect(steps.get("fits")).toMatchObject({ status: "COMPLETED", outputRef: { sizeBytes: 8 * MIB } });
  expect(steps.get("large")).toMatchObject({
    status: "FAILED",
    error: {
      code: "TOOL_RESULT_TOO_LARGE",
      message: expect.stringMatching(/8388609 bytes.*at most 8388608.*return less/),
    },
  });
});

function sha256(value: object): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}

test("a plan combines outputs of steps to its own outputs; a part that cannot be resolved makes it PARTIAL", async () => {
  await bench.startExecutor();
  const steps = [
    { id: "one", tool: "read_value", arguments: { value: 1 } },
    { id: "two", tool: "read_value", arguments: { value: "<<one.value>>" } },
  ];
  const outputs = { sum: { of: ["<<one.value>>", "<<two.value>>"] }, text: "<<two.tool>>: <<two.value>>" };
  const whole = await bench.submit({ steps, outputs });
  const lost = await bench.submit({ steps, outputs: { ...outputs, lost: "<<two.absent>>" } });
  const made = { sum: { of: [1, 1] }, text: "read_value: 1" };
  expect((await bench.end(whole._id)).plan).toMatchObject({ status: "COMPLETED", outputs: made });
  expect((await bench.end(lost._id)).plan).toMatchObject({
    status: "PARTIAL",
    outputs: made,
    error: { code: "OUTPUT_UNRESOLVED", message: expect.stringContaining("Output 'lost' is left out") },
  });
});
