import type { RequestSnapshot } from "../feeds/request-feed.ts";
import { progressOf } from "./request-report.ts";

/** A progress notification. */
export interface Progress {
  progress: number;
  /** At least `progress`; absent before there is a plan. */
  total?: number;
  message: string;
}

/**
 * The progress of one request for MCP, where the value must rise with every notification. A state without
 * more ended steps raises it half of the way to the next integer. Steps of an earlier version stay counted.
 * Null for a state that was already reported, or that cannot raise the value.
 * @see https://modelcontextprotocol.io/specification/2025-06-18/basic/utilities/progress
 */
export function createRisingProgress(): (state: RequestSnapshot) => Progress | null {
  let last = -1;
  let lastMessage = "";
  let planId: string | undefined;
  let earlier = 0;
  return (state) => {
    const { done, total, message } = progressOf(state);
    if (planId !== undefined && planId !== state.request.planId) {
      earlier = Math.max(0, Math.floor(last));
      lastMessage = "";
    }
    planId = state.request.planId;
    const counted = earlier + done;
    if (counted <= last && message === lastMessage) return null;
    const progress = counted > last ? counted : (last + Math.floor(last) + 1) / 2;
    const most = total > 0 ? earlier + total : undefined;
    if (progress <= last || progress > (most ?? Number.POSITIVE_INFINITY)) return null;
    last = progress;
    lastMessage = message;
    return { progress, ...(most === undefined ? {} : { total: most }), message };
  };
}
