/**
 * A memory budget for all heavy answers of this process: bytes that were read for them, and bytes that wait
 * to be sent.
 *
 * 1. All grants together never exceed the budget, and one tenant never holds more than half of it.
 * 2. The tenant that holds least is served first, its callers in order. A caller that does not fit is not
 *    overtaken.
 * 3. A caller waits for a short time. After that, or when too many callers of its tenant wait, it is refused.
 *    A caller whose operation has taken effect is never refused.
 */
import { OverloadedError } from "../errors/api-error.ts";
import type { ApiMetrics } from "../telemetry/operation.ts";

/** Settings of {@link createByteBudget}. */
export interface ByteBudgetOptions {
  /** Limit of all grants together. */
  maxBytes: number;
  /** How long a caller waits before it is refused, in milliseconds. Default 2,000. */
  waitMs?: number | undefined;
  /** Counts refusals. Default: nothing is counted. */
  metrics?: Pick<ApiMetrics, "refused"> | undefined;
  /** Uniform in [0, 1). Default: Math.random. */
  random?: (() => number) | undefined;
}

/** A request for a grant. */
export interface GrantRequest {
  tenant: string;
  /** At most half of the budget is granted. */
  bytes: number;
  /** True: waits without a timeout. */
  hasNoTimeout: boolean;
  /** Aborted when the client disconnects: then the caller is refused. */
  signal?: AbortSignal | undefined;
}

/** Bytes that a caller holds. */
export interface Grant {
  /** Releases everything above this many bytes. */
  shrink(bytes: number): void;
  /** Releases all bytes. Safe to call twice. */
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
/** Most callers of one tenant that wait at once. */
const MAX_WAITING = 64;
/** Clients may retry after 1 to 2 times this time, in milliseconds. */
const RETRY_AFTER_MS = 1_000;

interface Waiting extends GrantRequest {
  grant: () => void;
}

/** An unused budget. */
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

  /** Grants as many callers as fit, in the order of invariant 2. */
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
      const { tenant, hasNoTimeout, signal } = request;
      const bytes = Math.min(asked, share);
      const isCrowded = waiting.filter((one) => one.tenant === tenant).length >= MAX_WAITING;
      if (signal?.aborted || (isCrowded && !hasNoTimeout)) throw overloaded();
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
        const timer = hasNoTimeout ? undefined : setTimeout(refuse, waitMs);
        signal?.addEventListener("abort", refuse, { once: true });
        waiting = [...waiting, own];
        serve();
      });
    },
    heldBytes: () => held,
  };
}
