/** The README's example of a list, run unchanged by a real executor. */
import { fileURLToPath } from "node:url";
import { isJsonObject, type JsonObject } from "@planwright/plan";
import { readmeBlocks } from "@planwright/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openWorkbench, TENANT, type Workbench } from "./executor-process.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const [example, output] = readmeBlocks(ROOT, "services/executor/README.md")
  .filter(({ section, language }) => section === "Lists" && language === "json")
  .map(({ text }) => parse(text));

function parse(json: string): JsonObject {
  const value: unknown = JSON.parse(json);
  if (!isJsonObject(value)) throw new TypeError("no object");
  return value;
}

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
  bench.tools.script({
    keyed_effect: [
      { type: "latency", ms: 0 },
      { type: "tool-error", message: "no such user" },
    ],
  });
  await bench.startExecutor();
});
afterEach(() => bench.close());

const values = async () => (await bench.tools.ledger()).map(({ arguments: args }) => args["value"]);

/** Reruns the plan and returns the values of the calls since then. */
async function valuesOfRerun(requestId: string): Promise<unknown[]> {
  const before = await values();
  const answer = await bench.store.rerunPlan(TENANT, requestId, { from: null, autoExecute: true });
  if (answer.type !== "rerun") throw new TypeError(answer.type);
  expect((await bench.end(answer.plan._id)).plan.status).toBe("COMPLETED");
  return (await values()).slice(before.length);
}

test("the example in the README has the output in the README, and its rerun calls the item that failed", async () => {
  const submitted = await bench.submit(example);
  const { plan, steps } = await bench.end(submitted._id);
  expect(steps.get("each")).toMatchObject({ status: "COMPLETED" });
  expect(steps.get("each")?.output).toEqual(output);
  expect(plan).toMatchObject({ status: "PARTIAL", error: { code: "ITEMS_FAILED" } });
  await expect
    .poll(async () => (await bench.store.getRequest(TENANT, plan.requestId))?.status, { timeout: 10_000 })
    .toBe("PARTIAL");
  expect(await valuesOfRerun(plan.requestId)).toEqual(["Bob"]);
});

test("without `errors` it stops at the failed item, and its rerun calls that item and those that never started", async () => {
  const { errors: _, ...forEach } = at(at(example, "steps", 0), "forEach");
  const submitted = await bench.submit({ steps: [{ ...at(example, "steps", 0), forEach }] });
  const { plan, steps } = await bench.end(submitted._id);
  expect(plan.status).toBe("FAILED");
  expect(["each", "each[0]", "each[1]", "each[2]"].map((key) => steps.get(key)?.status)).toEqual([
    "FAILED",
    "COMPLETED",
    "FAILED",
    "SKIPPED",
  ]);
  await expect
    .poll(async () => (await bench.store.getRequest(TENANT, plan.requestId))?.status, { timeout: 10_000 })
    .toBe("FAILED");
  expect(await valuesOfRerun(plan.requestId)).toEqual(["Bob", "Cid"]);
});

/** The object in a field, or in a list of one. */
function at(object: JsonObject | undefined, field: string, index?: number): JsonObject {
  const value = object?.[field];
  const found = index !== undefined && Array.isArray(value) ? value[index] : value;
  if (!isJsonObject(found)) throw new TypeError(`no ${field}`);
  return found;
}
