import { z } from "zod";

/** A limit over all calls of a tool, from all executors. It has at least one of the two bounds. */
export interface ToolLimit {
  /**
   * Name of the limit, such as "server/tool". Tenants with their own limits have their own names. At most 600
   * characters.
   */
  name: string;
  /** Maximum number of calls in progress. */
  maxConcurrency?: number | undefined;
  /** Maximum number of calls that may reach the tool in any span of `perMs` milliseconds. */
  rate?: { max: number; perMs: number } | undefined;
}

/** The Redis keys of one limit. */
export interface LimitKeys {
  holders: string;
  log: string;
  line: string;
  seen: string;
  away: string;
  turns: string;
}

/** The braces keep all keys on one node of a cluster. */
export function limitKeys(prefix: string, limit: Pick<ToolLimit, "name">): LimitKeys {
  const key = (part: string) => `{${prefix}:limits}:${part}:${limit.name}`;
  return {
    holders: key("holders"),
    log: key("log"),
    line: key("line"),
    seen: key("seen"),
    away: key("away"),
    turns: key("turns"),
  };
}

/** The Redis key for facts about Redis itself. */
export function lifeKey(prefix: string): string {
  return `{${prefix}:limits}:life`;
}

/** The channel on which tickets are woken. */
export function wakeChannel(prefix: string): string {
  return `{${prefix}:limits}:wake`;
}

/**
 * Result of the script: granted or not; milliseconds until it is worth asking again, -1 when unknown; number
 * of callers before it.
 */
export const AcquireAnswerSchema = z.tuple([z.literal([0, 1]), z.number().int(), z.number().int()]);
