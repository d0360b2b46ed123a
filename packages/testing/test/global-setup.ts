/**
 * Vitest's global setup. It starts nothing: MongoDB and Redis, each bundled service and the bundled command
 * are made when the first test file asks for them, once for the whole run, and end with it. Tests of pure
 * packages never wait for them. For the same reason the code that makes them is imported only then.
 */
import { fileURLToPath } from "node:url";
import { type BundledService, bundleProgram, bundleService, SERVICE_MAINS } from "../src/bundles.ts";
import { type Made, type OnDemand, offerOnDemand } from "../src/offer-on-demand.ts";

/** The part of Vitest's project that the setup uses. */
interface TestProject {
  provide(key: "planwrightServers" | "planwrightProgram", value: OnDemand): void;
  provide(key: "planwrightServices", value: Record<BundledService, OnDemand>): void;
}

/** Inside the repository, because services look for the files of packages that they serve. */
const CACHE = fileURLToPath(new URL("../../../node_modules/.cache/", import.meta.url));

export default function setup(project: TestProject): () => Promise<void> {
  const servers = offerOnDemand(startServers);
  const program = offerOnDemand(bundleCommand, CACHE);
  const names = Object.keys(SERVICE_MAINS) as BundledService[];
  const services = names.map((name) => {
    const make = async (folder: string): Promise<Made> => ({ value: await bundleService(name, folder) });
    return [name, offerOnDemand(make, CACHE)] as const;
  });
  project.provide("planwrightServers", servers.onDemand);
  project.provide("planwrightProgram", program.onDemand);
  const offered = services.map(([name, { onDemand }]) => [name, onDemand] as const);
  project.provide("planwrightServices", Object.fromEntries(offered) as Record<BundledService, OnDemand>);
  const offers = [servers, program, ...services.map(([, offer]) => offer)];
  return async () => void (await Promise.all(offers.map((offer) => offer.close())));
}

/** One MongoDB and one Redis. A server that cannot be started fails the tests that need it. */
async function startServers(dataDir: string): Promise<Made> {
  const { startMongo, startRedis } = await import("@planwright/local");
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  const [mongo, redis] = await Promise.all([
    startMongo({ dataDir, say, isThrowaway: true }),
    startRedis({ dataDir, say }),
  ]);
  return {
    value: { mongodbUrl: mongo.url, redisUrl: redis.url },
    // The data is deleted, so an orderly end is not needed.
    end: async () => void (await Promise.all([mongo.kill(), redis.kill()])),
  };
}

async function bundleCommand(folder: string): Promise<Made> {
  return { value: await bundleProgram(folder) };
}
