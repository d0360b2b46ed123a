import { hash } from "node:crypto";
import type { Redis } from "ioredis";

/** A Lua script of Redis; resolves with what the script returns. */
export type Script = (
  client: Redis,
  keys: readonly string[],
  args: readonly (string | number)[],
) => Promise<unknown>;

/** A script that is sent once to each server, and then called by its hash. */
export function createScript(lua: string): Script {
  const sha = hash("sha1", lua);
  return async (client, keys, args) => {
    try {
      return await client.evalsha(sha, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith("NOSCRIPT")) throw error;
      return await client.eval(lua, keys.length, ...keys, ...args);
    }
  };
}
