import { randomBytes } from "node:crypto";
import { inject } from "vitest";

/** Real servers for one test or one file of tests; nothing in them is shared with any other. */
export interface TestServers {
  /** With a fresh database name as its path. */
  mongodbUrl: string;
  redisUrl: string;
  /** Fresh; goes before every key that a queue writes. */
  redisPrefix: string;
}

declare module "vitest" {
  export interface ProvidedContext {
    planwrightServers: { mongodbUrl: string; redisUrl: string };
  }
}

/**
 * The MongoDB (replica set) and the Redis of this test run, with a fresh database and key prefix for each call.
 * They are started once per run by Vitest's global setup.
 */
export function testServers(): TestServers {
  const { mongodbUrl, redisUrl } = inject("planwrightServers");
  const name = `test_${randomBytes(8).toString("hex")}`;
  const url = new URL(mongodbUrl);
  url.pathname = `/${name}`;
  return { mongodbUrl: url.href, redisUrl, redisPrefix: name };
}
