import { appendFileSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import { configureGlobal } from "fast-check";
import { afterAll, expect } from "vitest";
import { z } from "zod";

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

const TIMES = Symbol.for("planwright.test-times");
/** Ticks of the clock in a second, in which Linux counts processor time. */
const TICKS = 100;
/** What earlier files of this worker took. This module is loaded again for each file. */
const earlier: { seconds?: number } = ((globalThis as { [TIMES]?: { seconds?: number } })[TIMES] ??= {});

/** Processor seconds of this worker and of all processes that it has started and that have ended. */
function usedSeconds(): number {
  const [, fields = ""] = readFileSync("/proc/self/stat", "utf8").split(") ");
  const ticks = fields.split(" ").slice(11, 15).map(Number);
  return ticks.reduce((sum, one) => sum + one, 0) / TICKS;
}

/** Where `npm run test:times` reads what each file took. The first file of a worker has its start. */
const timesFile = process.env["TEST_TIMES"];
if (timesFile !== undefined) {
  // Registered first, so that it runs after what the file itself closes at its end.
  afterAll(() => {
    const seconds = usedSeconds();
    const file = relative(process.env["TEST_TIMES_ROOT"] ?? "/", expect.getState().testPath ?? "");
    appendFileSync(timesFile, `${JSON.stringify({ file, seconds: seconds - (earlier.seconds ?? 0) })}\n`);
    earlier.seconds = seconds;
  });
}
