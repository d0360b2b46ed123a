import { appendFileSync, readFileSync } from "node:fs";
import { configureGlobal } from "fast-check";
import { afterAll, beforeEach, expect } from "vitest";
import { z } from "zod";
import { endFile, noteTest } from "./databases.ts";

/**
 * The seed of every property test, from PROPERTY_SEED: an integer, or `random` for a different seed in each
 * test. Default 1, and 2 in the proof, which draws what `npm test` did not; so that a test run of one commit has
 * one result, and the same command repeats a failure.
 * Other seeds search for faults (`PROPERTY_SEED=random npx vitest run --project packages/plan`).
 */
const PropertySeedSchema = z
  .union([z.literal("random"), z.coerce.number().int()])
  .default(process.env["TESTS"] === "proof" ? 2 : 1);

const seed = PropertySeedSchema.parse(process.env["PROPERTY_SEED"]);
if (seed !== "random") configureGlobal({ seed });

/**
 * Ends a worker when its test run was killed. Otherwise the worker would stay until
 * the timeout of its test, with every process that the test has started.
 */
if (process.listenerCount("disconnect") === 0) process.once("disconnect", () => process.exit());

/** Ticks of the clock in a second, in which Linux counts processor time. */
const TICKS = 100;

/** Processor seconds of this worker and of all processes that it has started and that have ended. */
function usedSeconds(): number {
  const [, fields = ""] = readFileSync("/proc/self/stat", "utf8").split(") ");
  const ticks = fields.split(" ").slice(11, 15).map(Number);
  return ticks.reduce((sum, one) => sum + one, 0) / TICKS;
}

/** Where `npm run test:times` reads what each worker had used when a file ended. */
const timesFile = process.env["TEST_TIMES"];
if (timesFile !== undefined) {
  // Registered first, so that it runs after what the file itself closes at its end.
  afterAll(() => {
    const { pid } = process;
    const line = { pid, file: expect.getState().testPath, used: usedSeconds() };
    appendFileSync(timesFile, `${JSON.stringify(line)}\n`);
  });
}

// Registered first, so that it runs after what the file itself closes at its end.
beforeEach(({ onTestFailed }) => {
  noteTest("started");
  onTestFailed(() => noteTest("failed"));
});
afterAll(endFile);
