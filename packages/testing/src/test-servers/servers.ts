import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import { z } from "zod";
import { askOnDemand } from "../on-demand/ask.ts";
import type { OnDemand } from "../on-demand/protocol.ts";

/** Real servers for one test or one file of tests. No other test shares its database or keys. */
export interface TestServers {
  /** URL with a new database name as its path. */
  mongodbUrl: string;
  redisUrl: string;
  /** A new prefix for all keys that a queue writes. */
  redisPrefix: string;
}

declare module "vitest" {
  export interface ProvidedContext {
    planwrightServers: OnDemand;
  }
}

const ServersSchema = z.object({ mongodbUrl: z.string(), redisUrl: z.string() });

/**
 * The MongoDB (replica set) and the Redis of this test run, with a new database and key prefix for each call.
 * The first call of a run starts them and blocks for about a second.
 */
export function testServers(): TestServers {
  const { mongodbUrl, redisUrl } = askOnDemand(inject("planwrightServers"), ServersSchema);
  const name = `test_${randomBytes(8).toString("hex")}`;
  const url = new URL(mongodbUrl);
  url.pathname = `/${name}`;
  return { mongodbUrl: url.href, redisUrl, redisPrefix: name };
}
