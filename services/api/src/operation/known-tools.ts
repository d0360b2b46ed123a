import type { LeftOutTool, ToolDescriptor } from "@planwright/plan";
import type { ClientStore } from "@planwright/store";
import { LRUCache } from "lru-cache";

/** How long a read catalogue is used, in milliseconds. */
const FRESH_MS = 1_000;
/** Most tenants whose catalogues are cached. */
const KEPT_TENANTS = 100;

/** The tool catalogue that plans are checked against, with the tools that servers list and no plan can use. */
export interface KnownTools {
  /**
   * Computes the answer with a catalogue of at most a second ago. If that answer is not good, computes it
   * with the current catalogue, so that a tool that was just published is known.
   */
  ask<Answer>(
    tenant: string,
    answerWith: (tools: readonly ToolDescriptor[], leftOut: readonly LeftOutTool[]) => Answer,
    isGood: (answer: Answer) => boolean,
  ): Promise<Answer>;
}

interface Known {
  readAt: number;
  tools: Promise<readonly [readonly ToolDescriptor[], readonly LeftOutTool[]]>;
}

/**
 * Reads a catalogue once for all submissions of a second: a read for each submission would cost more than
 * accepting it.
 * @param now - monotonic milliseconds
 */
export function createKnownTools(
  store: Pick<ClientStore, "toolCatalogue" | "leftOutTools">,
  now: () => number = () => performance.now(),
): KnownTools {
  const kept = new LRUCache<string, Known>({ max: KEPT_TENANTS });

  function readAgain(tenant: string): Known {
    const tools = Promise.all([store.toolCatalogue(tenant), store.leftOutTools()]);
    const fresh: Known = { readAt: now(), tools };
    kept.set(tenant, fresh);
    tools.catch(() => {
      if (kept.peek(tenant) === fresh) kept.delete(tenant);
    });
    return fresh;
  }

  return {
    async ask(tenant, answerWith, isGood) {
      const askedAt = now();
      const last = kept.get(tenant);
      const known = last && askedAt - last.readAt <= FRESH_MS ? last : readAgain(tenant);
      const answer = answerWith(...(await known.tools));
      if (isGood(answer) || known.readAt >= askedAt) return answer;
      return answerWith(...(await readAgain(tenant).tools));
    },
  };
}
