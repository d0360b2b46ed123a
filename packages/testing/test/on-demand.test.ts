import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { bundleWithCodeCache } from "../src/index.ts";
import { type Made, type Offer, type OnDemand, offerOnDemand } from "../src/offer-on-demand.ts";

const ASKS = fileURLToPath(new URL("./asks-on-demand.ts", import.meta.url));

/** Inside the repository, as every bundle. */
const CACHE = fileURLToPath(new URL("../../../node_modules/.cache/", import.meta.url));
let bundled: string;
let worker: string;
beforeAll(async () => {
  mkdirSync(CACHE, { recursive: true });
  bundled = mkdtempSync(join(CACHE, "planwright-test-"));
  worker = await bundleWithCodeCache(bundled, ASKS, [join(bundled, "no-folder"), "0"]);
});
afterAll(() => rmSync(bundled, { recursive: true, force: true }));

/** The output of a worker that asks for the part. */
async function ask({ folder, pid }: OnDemand): Promise<string> {
  return (await promisify(execFile)(process.execPath, [worker, folder, String(pid)])).stdout;
}

/** An offer that counts how often its part was made and ended. */
function counted(make: () => Promise<string>): Offer & { made(): number; ended(): number } {
  let made = 0;
  let ended = 0;
  const offer = offerOnDemand(async (): Promise<Made> => {
    made += 1;
    return { value: await make(), end: async () => void (ended += 1) };
  });
  onTestFinished(() => offer.close());
  return { ...offer, made: () => made, ended: () => ended };
}

test("a part is made once, when the first worker asks, and every worker gets it", async () => {
  const offer = counted(async () => "here");
  expect(offer.made()).toBe(0);
  expect(await Promise.all([ask(offer.onDemand), ask(offer.onDemand)])).toEqual(["here", "here"]);
  expect(await ask(offer.onDemand)).toBe("here");
  await offer.close();
  expect([offer.made(), offer.ended()]).toEqual([1, 1]);
});

test("a part that no worker asked for is never made", async () => {
  const offer = counted(async () => "here");
  await offer.close();
  expect([offer.made(), offer.ended()]).toEqual([0, 0]);
  expect(existsSync(offer.onDemand.folder)).toBe(false);
});

test("every worker receives the reason why a part could not be made", async () => {
  const offer = counted(async () => {
    throw new TypeError("no such program");
  });
  expect(await Promise.all([ask(offer.onDemand), ask(offer.onDemand)])).toEqual([
    "not made: no such program",
    "not made: no such program",
  ]);
  expect(offer.made()).toBe(1);
});

test("a worker does not wait for a main process that has ended", async () => {
  const folder = mkdtempSync(join(tmpdir(), "planwright-on-demand-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { pid } = spawnSync(process.execPath, ["--version"]);
  expect(await ask({ folder, pid })).toBe("not made: The main process of the test run has ended");
});
