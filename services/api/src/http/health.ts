import { setTimeout as sleep } from "node:timers/promises";
import type { RequestHandler } from "express";
import type { ApiLogger } from "../parts.ts";

/** Longest that a readiness probe waits for MongoDB, in milliseconds. */
const READY_TIMEOUT_MS = 2_000;

/** What readiness depends on. Redis is not part of it: without Redis work is accepted and found by sweepers. */
export interface ReadinessParts {
  /** Resolves when MongoDB answers. */
  ping: () => Promise<void>;
  isStopping: () => boolean;
  logger: ApiLogger;
}

/** The process answers. */
export const healthz: RequestHandler = (_request, response) => {
  response.json({ status: "ok" });
};

/** 200 while MongoDB answers in time and the service is not stopping, otherwise 503. */
export function createReadyz(parts: ReadinessParts): RequestHandler {
  return async (_request, response) => {
    const mongodb = await checkMongodb(parts);
    const isReady = mongodb === "ok" && !parts.isStopping();
    const status = parts.isStopping() ? "stopping" : isReady ? "ok" : "unavailable";
    response.status(isReady ? 200 : 503).json({ status, checks: { mongodb } });
  };
}

async function checkMongodb({ ping, logger }: ReadinessParts): Promise<"ok" | "unavailable"> {
  const answered = new AbortController();
  const isLate = sleep(READY_TIMEOUT_MS, true, { signal: answered.signal }).catch(() => false);
  try {
    if (await Promise.race([ping().then(() => false), isLate])) return "unavailable";
    return "ok";
  } catch (error) {
    logger.warn({ err: error }, "not ready: MongoDB gives no answer");
    return "unavailable";
  } finally {
    answered.abort();
  }
}
