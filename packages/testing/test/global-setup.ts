/**
 * Vitest's global setup. It starts nothing: MongoDB and Redis, the bundled services and the bundled command
 * are made when the first test file asks for them, once for the whole run, and end with it. Tests of pure
 * packages never wait for them. For the same reason the code that makes them is imported only then.
 */
import { fileURLToPath } from "node:url";
import { type Made, type OnDemand, offerOnDemand } from "../src/offer-on-demand.ts";

/** The part of Vitest's project that the setup uses. */
interface TestProject {
  provide(key: "planwrightServers" | "planwrightServices" | "planwrightProgram", value: OnDemand): void;
}

/** Inside the repository, because services look for the files of packages that they serve. */
const CACHE = fileURLToPath(new URL("../../../node_modules/.cache/", import.meta.url));

export default function setup(project: TestProject): () => Promise<void> {
  const offers = [
    ["planwrightServers", offerOnDemand(startServers)],
    ["planwrightServices", offerOnDemand(bundleAllServices, CACHE)],
    ["planwrightProgram", offerOnDemand(bundleCommand, CACHE)],
  ] as const;
  for (const [key, { onDemand }] of offers) project.provide(key, onDemand);
  return async () => void (await Promise.all(offers.map(([, offer]) => offer.close())));
}

/** One MongoDB and one Redis. A server that cannot be started fails the tests that need it. */
async function startServers(dataDir: string): Promise<Made> {
  const { startMongo, startRedis } = await import("@planwright/local");
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  const [mongo, redis] = await Promise.all([startMongo({ dataDir, say }), startRedis({ dataDir, say })]);
  return {
    value: { mongodbUrl: mongo.url, redisUrl: redis.url },
    // The data is deleted, so an orderly end is not needed.
    end: async () => void (await Promise.all([mongo.kill(), redis.kill()])),
  };
}

async function bundleAllServices(folder: string): Promise<Made> {
  const { bundleServices } = await import("../src/bundles.ts");
  return { value: await bundleServices(folder) };
}

async function bundleCommand(folder: string): Promise<Made> {
  const { bundleProgram } = await import("../src/bundles.ts");
  return { value: await bundleProgram(folder) };
}
