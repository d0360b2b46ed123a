import type { AccessStore } from "@planwright/store";
import type { ApiLogger } from "../errors/telemetry.ts";
import { type Caller, KNOWN_FOR_MS } from "./gate.ts";

/** Reports when a credential ends, for work that stays open for a caller. */
export interface CredentialWatch {
  /**
   * Calls back once, when the token or key has expired, or the key was revoked. Never for a caller without a
   * credential.
   * @returns a function that stops the watch; safe to call twice
   */
  follow(caller: Pick<Caller, "keyId" | "expiresAt">, onEnd: () => void): () => void;
}

/** Dependencies of {@link createCredentialWatch}. */
interface CredentialWatchDependencies {
  store: Pick<AccessStore, "findValidKeys">;
  logger: ApiLogger;
  /**
   * How often keys are looked up, in milliseconds. Default 5,000, the same delay as for single operations.
   */
  everyMs?: number | undefined;
}

/** Longest delay of a Node timer, in milliseconds. */
const MAX_TIMER_MS = 2_147_483_647;

/** Reads nothing while no key is watched; otherwise reads all watched keys in one query. */
export function createCredentialWatch(dependencies: CredentialWatchDependencies): CredentialWatch {
  const { store, logger, everyMs = KNOWN_FOR_MS } = dependencies;
  const holders = new Map<string, Set<() => void>>();
  let timer: NodeJS.Timeout | undefined;

  async function check(): Promise<void> {
    const ids = [...holders.keys()];
    try {
      const valid = ids.length > 0 ? await store.findValidKeys(ids) : new Set();
      for (const id of ids) if (!valid.has(id)) for (const end of holders.get(id) ?? []) end();
    } catch (error) {
      // While MongoDB is unavailable, subscriptions get no new data either.
      logger.warn({ err: error }, "could not check the keys of open subscriptions; retrying soon");
    }
    timer = undefined;
    arm();
  }

  function arm(): void {
    if (timer || holders.size === 0) return;
    timer = setTimeout(() => void check(), everyMs).unref();
  }

  /** @returns a function that stops the watch of this key */
  function hold(keyId: string, end: () => void): () => void {
    const ends = holders.get(keyId) ?? new Set();
    holders.set(keyId, ends.add(end));
    arm();
    return () => {
      ends.delete(end);
      if (ends.size === 0 && holders.get(keyId) === ends) holders.delete(keyId);
    };
  }

  return {
    follow({ keyId, expiresAt }, onEnd) {
      let isLeft = false;
      const leave = (): void => {
        isLeft = true;
        stopTimer();
        release();
      };
      const end = (): void => {
        if (isLeft) return;
        leave();
        onEnd();
      };
      const stopTimer = expiresAt ? at(expiresAt, end) : () => undefined;
      const release = keyId === null ? () => undefined : hold(keyId, end);
      return leave;
    },
  };
}

/** Calls back at a time, which may be later than one timer can wait. @returns a function that cancels it */
function at(instant: Date, callBack: () => void): () => void {
  let timer: NodeJS.Timeout;
  function wait(): void {
    const leftMs = instant.getTime() - Date.now();
    timer =
      leftMs > MAX_TIMER_MS
        ? setTimeout(wait, MAX_TIMER_MS).unref()
        : setTimeout(callBack, Math.max(0, leftMs)).unref();
  }
  wait();
  return () => clearTimeout(timer);
}
