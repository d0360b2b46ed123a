import { CodedError } from "@planwright/plan";

/** A hint was dropped, because too many wait for a Redis that does not answer. The sweeper finds the work. */
export class OfferDroppedError extends CodedError<{ queue: string; pending: number }> {
  readonly code = "OFFER_DROPPED";
  readonly retryable = true;
  constructor(facts: { queue: string; pending: number }) {
    super(
      `A hint for the ${facts.queue} queue was dropped: ${facts.pending} hints already wait for Redis`,
      facts,
    );
  }
}
