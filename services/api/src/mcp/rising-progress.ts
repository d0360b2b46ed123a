import type { RequestSnapshot } from "../feeds/request-feed.ts";
import { progressOf } from "./request-report.ts";

/** What a progress notification says. */
export interface Progress {
  progress: number;
  /** Above `progress` or equal to it; absent while nothing is planned. */
  total?: number;
  message: string;
}

/**
 * The progress of one request in words of MCP, where it must rise with every notification: a state in which no more steps are over than
 * before goes half of the way to the next whole step. Steps of an earlier version stay counted, as in all that was done. What a
 * notification before said already, or what would not rise, is null.
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
