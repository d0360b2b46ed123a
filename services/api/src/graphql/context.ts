import type { OperationParts } from "../parts.ts";
import { createReads, type Reads } from "./reads.ts";

/** What every resolver gets, made anew for each HTTP request. */
export interface GraphqlContext extends OperationParts {
  reads: Reads;
  /** Unix milliseconds when the request came: one "now" for the whole answer. */
  nowMs: number;
}

/** The context of one HTTP request. */
export function createContext(parts: OperationParts, nowMs: number): GraphqlContext {
  return { ...parts, nowMs, reads: createReads(parts.store, parts.tenant) };
}
