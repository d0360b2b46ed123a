import {
  DraftError,
  type Drafter,
  type DraftInput,
  type DraftResult,
  toolsForPrompt,
} from "@planwright/models";
import type { ModelCallBegin, PlanningClaim, PlanningStore, PlanOrigin } from "@planwright/store";
import { type CallMeterParts, createCallMeter } from "../calls/call-meter.ts";
import { recordOfCall } from "../calls/record-of-call.ts";

/** What asking needs. */
export interface AskParts extends CallMeterParts {
  store: CallMeterParts["store"] & Pick<PlanningStore, "recordModelCall">;
  drafter: Drafter;
}

/** What is asked, and for whom. */
export interface Ask extends Omit<DraftInput, "meter"> {
  claim: PlanningClaim;
  purpose: ModelCallBegin["purpose"];
}

/** One draft, or why there is none. Every call of a model is metered; what rules did is recorded when it is done. */
export async function askDrafter(
  parts: AskParts,
  { claim, purpose, ...asked }: Ask,
): Promise<DraftResult | DraftError> {
  const { store, drafter } = parts;
  const isModel = drafter.kind === "model";
  const meter = isModel ? createCallMeter(parts, claim, purpose) : undefined;
  // Rules look at every tool; a prompt has room for some. What comes back is checked against the whole catalogue.
  const tools = isModel ? toolsForPrompt(asked).tools : asked.tools;
  const result = await drafter.draft({ ...asked, tools, meter }).catch((error: unknown) => {
    if (error instanceof DraftError) return error;
    throw error;
  });
  if (!meter) {
    await store.recordModelCall(recordOfCall({ request: claim.request, drafter, purpose, result }));
  }
  return result;
}

/** Who made a plan. */
export const originOf = (drafter: Drafter, answer: DraftResult | null): PlanOrigin =>
  drafter.kind === "model"
    ? { kind: "model", model: answer?.model ?? drafter.name }
    : { kind: "offline", model: null };

/** What users read of a failure. */
export const toFailure = ({ code, message }: DraftError) => ({ code, message });
