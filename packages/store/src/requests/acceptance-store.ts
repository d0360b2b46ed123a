import type { createAcceptance } from "./acceptance.ts";

/**
 * A client's name for a submission: sending it again does nothing twice. Valid for 24 h, within one tenant.
 */
export interface Idempotency {
  key: string;
  /** SHA-256 of the submission: the key is refused for another one. */
  payloadHash: string;
}

/** How long an idempotency key is valid, in milliseconds. */
export const KEY_LIFE_MS = 86_400_000;

/** Accepts new work. */
export type AcceptanceStore = ReturnType<typeof createAcceptance>;
