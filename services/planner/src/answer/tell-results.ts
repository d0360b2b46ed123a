import { DraftError, type Drafter, type PriceList } from "@planwright/models";
import type { PlanningClaim, PlanningStore, RecordedError } from "@planwright/store";
import { createCallMeter } from "../calls/call-meter.ts";
import { askedOf } from "../graph/asked-of.ts";
import { redactedError } from "../graph/redacted-error.ts";
import type { ModelMetrics } from "../metrics/model-metrics.ts";
import { requestedResults } from "./requested-results.ts";

/** What telling results needs. */
export interface TellParts {
  store: Pick<
    PlanningStore,
    "readPlanRecord" | "completeAnswer" | "failAnswer" | "beginModelCall" | "endModelCall"
  >;
  drafter: Drafter;
  prices: PriceList;
  /** Default: nothing is counted. */
  metrics?: ModelMetrics | undefined;
}

/** Longest answer that is kept, in UTF-16 units. */
const MAX_ANSWER = 20_000;

/**
 * Tells the results of a plan that is over in words: one call of the model, over the request and the outputs that it asked for. What goes
 * wrong is stored in place of the answer; the results stay. Null when there is an answer.
 * @throws {LeaseLostError}
 */
export async function tellResults(
  { store, drafter, prices, metrics }: TellParts,
  claim: PlanningClaim,
  signal: AbortSignal,
): Promise<RecordedError | null> {
  const record = await store.readPlanRecord(claim);
  const results = record ? requestedResults(record) : [];
  const meter = createCallMeter({ store, prices, metrics }, claim, "answer");
  try {
    const { text } = await drafter.answer({ query: askedOf(claim.request), results, meter, signal });
    const answer = text.trim().slice(0, MAX_ANSWER);
    if (answer === "") return await fail(EMPTY);
    await store.completeAnswer(claim, answer);
    return null;
  } catch (error) {
    if (error instanceof DraftError) return fail(redactedError(error));
    throw error;
  }

  async function fail(error: RecordedError): Promise<RecordedError> {
    await store.failAnswer(claim, error);
    return error;
  }
}

const EMPTY = {
  code: "MODEL_ANSWER_UNREADABLE",
  message: "The model gave no answer; the results stand in the outputs of the plan",
};
