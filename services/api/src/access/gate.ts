import type { IncomingMessage } from "node:http";
import type { Scope } from "@planwright/store";
import type { RequestHandler } from "express";
import { ApiError } from "../errors/api-error.ts";
import type { SendRefusal } from "../errors/http-errors.ts";
import type { RateLimit } from "../load/rate-limit.ts";
import type { ApiMetrics } from "../telemetry/api-metrics.ts";
import { type Authenticate, type Presented, presentedBy } from "./authenticate.ts";
import { type Caller, requireScope } from "./caller.ts";

/** Checks every call before its operation starts, over every protocol. */
export interface Gate {
  /** Finds the caller, without counting. @throws {UnauthenticatedError | UnavailableError} */
  recognize(presented: Presented): Promise<Caller>;
  /** The same for an operation, which counts for the rate limit. @throws {RateLimitedError} too */
  admit(presented: Presented): Promise<Caller>;
  /** Passes HTTP requests of known callers to the next handler, and answers all others with an error. */
  forCallers: RequestHandler;
  /** The same for callers with a scope, without counting. */
  forScope(scope: Scope): RequestHandler;
  /** The caller of a request that passed the gate. */
  callerOf(request: IncomingMessage): Caller;
}

/** Dependencies of {@link createGate}. */
export interface GateDependencies {
  authenticate: Authenticate;
  /** Default: no limit. */
  rateLimit?: Pick<RateLimit, "count"> | undefined;
  /** Counts refusals. */
  metrics: Pick<ApiMetrics, "denied">;
  sendRefusal: SendRefusal;
}

/** One gate for all protocols of the service. */
export function createGate({ authenticate, rateLimit, metrics, sendRefusal }: GateDependencies): Gate {
  const callers = new WeakMap<IncomingMessage, Caller>();

  /** Counts refusals. */
  async function counted<T>(check: () => Promise<T>): Promise<T> {
    try {
      return await check();
    } catch (error) {
      if (error instanceof ApiError) metrics.denied(error.code);
      throw error;
    }
  }

  const recognize = (presented: Presented) => counted(() => authenticate(presented));
  const admit = (presented: Presented) =>
    counted(async () => {
      const caller = await authenticate(presented);
      if (caller.countedAs !== null) await rateLimit?.count(caller.countedAs);
      return caller;
    });

  function handler(check: (presented: Presented) => Promise<Caller>): RequestHandler {
    return async (request, response, next) => {
      try {
        callers.set(request, await check(presentedBy(request)));
      } catch (error) {
        return sendRefusal(response, error);
      }
      next();
    };
  }

  return {
    recognize,
    admit,
    forCallers: handler(admit),
    forScope: (scope) =>
      handler((presented) =>
        counted(async () => {
          const caller = await authenticate(presented);
          requireScope(caller, scope);
          return caller;
        }),
      ),
    callerOf(request) {
      const caller = callers.get(request);
      if (!caller) throw new TypeError("an operation bypassed the gate");
      return caller;
    },
  };
}
