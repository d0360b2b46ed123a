/**
 * What the heavy answers of this process may hold together: bytes that are read for them, and bytes that wait to be sent.
 *
 * 1. Grants never exceed the budget together, and one tenant never holds more than half of it: the others always find room.
 * 2. The tenant that holds least is served first, each in its own order. What does not fit yet is not passed by.
 * 3. A caller waits for a moment; then, or when too many of its tenant wait, it is refused. One that has acted already is never refused.
 */
import { OverloadedError } from "../errors/api-errors.ts";
import type { ApiMetrics } from "../telemetry/api-metrics.ts";

/** Settings of {@link createByteBudget}. */
export interface ByteBudgetOptions {
  /** Of all grants together. */
  maxBytes: number;
  /** Longest that a caller waits which may be refused, in milliseconds. Default 2,000. */
  waitMs?: number | undefined;
  /** Told of refusals. Default: nothing is counted. */
  metrics?: Pick<ApiMetrics, "refused"> | undefined;
  /** Uniform in [0, 1). Default: the platform's. */
  random?: (() => number) | undefined;
}

/** What is asked for. */
export interface GrantRequest {
  tenant: string;
  /** One that is larger than half of the budget counts as half of it. */
  bytes: number;
  /** True: it waits as long as it takes. */
  isPatient: boolean;
  /** Aborted when the client is gone: then it is refused. */
  signal?: AbortSignal | undefined;
}

/** Bytes that are held. */
export interface Grant {
  /** Gives back what is above so many bytes. */
  shrink(bytes: number): void;
  /** Gives all of it back. Does nothing when called again. */
  release(): void;
}

/** The budget of a process. */
export interface ByteBudget {
  /** @throws {OverloadedError} */
  acquire(request: GrantRequest): Promise<Grant>;
  /** Bytes that are held now. */
  heldBytes(): number;
}

const WAIT_MS = 2_000;
/** Callers of one tenant that wait at once, at most. */
const MAX_WAITING = 64;
/** Clients are asked to come back after 1 to 2 times this, in milliseconds. */
const RETRY_AFTER_MS = 1_000;

interface Waiting extends GrantRequest {
  grant: () => void;
}

/** A budget of which nothing is held. */
export function createByteBudget(options: ByteBudgetOptions): ByteBudget {
  const { maxBytes, waitMs = WAIT_MS, metrics, random = Math.random } = options;
  const share = Math.floor(maxBytes / 2);
  const heldBy = new Map<string, number>();
  let held = 0;
  let waiting: readonly Waiting[] = [];

  const heldOf = (tenant: string): number => heldBy.get(tenant) ?? 0;

  function change(tenant: string, bytes: number): void {
    held += bytes;
    const own = heldOf(tenant) + bytes;
    if (own === 0) heldBy.delete(tenant);
    else heldBy.set(tenant, own);
  }

  /** Grants what fits, in order. */
  function serve(): void {
    for (;;) {
      const [next] = waiting
        .filter(({ tenant, bytes }) => heldOf(tenant) + bytes <= share)
        .toSorted((a, b) => heldOf(a.tenant) - heldOf(b.tenant));
      if (!next || held + next.bytes > maxBytes) return;
      waiting = waiting.filter((one) => one !== next);
      next.grant();
    }
  }

  function grantOf(tenant: string, granted: number): Grant {
    let own = granted;
    change(tenant, own);
    const shrink = (bytes: number): void => {
      if (bytes >= own) return;
      change(tenant, bytes - own);
      own = bytes;
      serve();
    };
    return { shrink, release: () => shrink(0) };
  }

  function overloaded(): OverloadedError {
    metrics?.refused("bytes");
    return new OverloadedError(
      "large answers use all the memory reserved for them; small answers still work",
      Math.round(RETRY_AFTER_MS * (1 + random())),
    );
  }

  return {
    async acquire({ bytes: asked, ...request }) {
      const { tenant, isPatient, signal } = request;
      const bytes = Math.min(asked, share);
      const isCrowded = waiting.filter((one) => one.tenant === tenant).length >= MAX_WAITING;
      if (signal?.aborted || (isCrowded && !isPatient)) throw overloaded();
      return new Promise((resolve, reject) => {
        const settle = (): void => {
          clearTimeout(timer);
          signal?.removeEventListener("abort", refuse);
        };
        const refuse = (): void => {
          settle();
          waiting = waiting.filter((one) => one !== own);
          reject(overloaded());
          serve();
        };
        const own: Waiting = {
          ...request,
          bytes,
          grant() {
            settle();
            resolve(grantOf(tenant, bytes));
          },
        };
        const timer = isPatient ? undefined : setTimeout(refuse, waitMs);
        signal?.addEventListener("abort", refuse, { once: true });
        waiting = [...waiting, own];
        serve();
      });
    },
    heldBytes: () => held,
  };
}
