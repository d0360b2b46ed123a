import { z } from "zod";

/** What holds for all calls of a tool, whichever executor makes them. At least one of the two bounds is there. */
export interface ToolLimit {
  /** What the limit is about, such as "server/tool"; one for each tenant where tenants have their own. At most 600 characters. */
  name: string;
  /** Calls under way at once. */
  maxConcurrency?: number | undefined;
  /** Calls that may reach the tool in any span of so many milliseconds. */
  rate?: { max: number; perMs: number } | undefined;
}

/** Where everything about one limit stands in Redis. */
export interface LimitKeys {
  holders: string;
  log: string;
  line: string;
  seen: string;
  away: string;
}

/** Braces keep all keys on one node of a cluster. */
export function limitKeys(prefix: string, limit: Pick<ToolLimit, "name">): LimitKeys {
  const key = (part: string) => `{${prefix}:limits}:${part}:${limit.name}`;
  return {
    holders: key("holders"),
    log: key("log"),
    line: key("line"),
    seen: key("seen"),
    away: key("away"),
  };
}

/** Where it stands what is known of Redis itself. */
export function lifeKey(prefix: string): string {
  return `{${prefix}:limits}:life`;
}

/** Where tickets are called. */
export function wakeChannel(prefix: string): string {
  return `{${prefix}:limits}:wake`;
}

/** What the script answers: granted or not; milliseconds until it is worth asking again, -1 when unknown; how many go before. */
export const AcquireAnswerSchema = z.tuple([z.literal([0, 1]), z.number().int(), z.number().int()]);
