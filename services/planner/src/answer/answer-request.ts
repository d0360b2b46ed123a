import { type AnswerInput, DraftError, type Drafter } from "@planwright/models";
import {
  type JsonObject,
  outputParts,
  outputSteps,
  type Plan,
  resolveOutputs,
  scanReferences,
  toolOfStep,
} from "@planwright/plan";
import type { PlanningClaim, PlanningStore, PlanRecord, RecordedError } from "@planwright/store";
import { type CallMeterParts, createCallMeter } from "../calls/call-meter.ts";
import { type PostponeParts, postponeIfAway } from "../calls/postpone.ts";
import { redactedError } from "../calls/record-of-call.ts";
import { conversationOf, withoutSecrets } from "../prompts/context-of.ts";

/** Dependencies of {@link answerRequest}. */
export interface AnswerParts extends CallMeterParts, PostponeParts {
  store: CallMeterParts["store"] &
    PostponeParts["store"] &
    Pick<PlanningStore, "readPlanRecord" | "completeAnswer" | "failAnswer">;
  drafter: Drafter;
}

/** Longest answer that is stored, in UTF-16 units. */
const MAX_ANSWER = 20_000;

/**
 * Answers a request in words after its plan has ended: one model call with the request and its requested
 * outputs. An error is stored in place of the answer; the results are kept. Returns null when there is an
 * answer.
 * @throws {LeaseLostError}
 * @throws {PostponedError} when the model is away for now
 */
export async function answerRequest(
  parts: AnswerParts,
  claim: PlanningClaim,
  signal: AbortSignal,
): Promise<RecordedError | null> {
  const { store, drafter } = parts;
  const record = await store.readPlanRecord(claim);
  const results = record ? requestedResults(record) : [];
  const meter = createCallMeter(parts, claim, "answer");
  try {
    const { text } = await drafter.answer({ query: conversationOf(claim.request), results, meter, signal });
    const answer = text.trim().slice(0, MAX_ANSWER);
    if (answer === "") return await fail(EMPTY);
    await store.completeAnswer(claim, answer);
    return null;
  } catch (error) {
    if (error instanceof DraftError) return fail(redactedError(await postponeIfAway(parts, claim, error)));
    throw error;
  }

  async function fail(error: RecordedError): Promise<RecordedError> {
    await store.failAnswer(claim, error);
    return error;
  }
}

const EMPTY = {
  code: "MODEL_ANSWER_UNREADABLE",
  message: "The model gave no answer; the results are in the outputs of the plan",
};

/**
 * The requested outputs of a plan, or all outputs if the plan does not request any. An output that does not
 * exist is undefined. Without secrets. Pure.
 */
export function requestedResults({ plan: { plan }, outputs }: PlanRecord): AnswerInput["results"] {
  const parts = outputParts(plan.outputs);
  if (parts) return partResults(plan, parts, outputs);
  const ids = outputSteps(plan.outputs);
  const wanted = ids && new Set<string>(ids);
  return plan.steps
    .filter(({ id }) => !wanted || wanted.has(id))
    .map((step) => {
      const output = outputs.get(step.id);
      const shown = output === undefined ? undefined : withoutSecrets(output);
      return { id: step.id, tool: toolOfStep(step), output: shown };
    });
}

/** Outputs composed of parts, by name, each with the tools of the steps that it refers to. */
function partResults(plan: Plan, parts: JsonObject, known: PlanRecord["outputs"]): AnswerInput["results"] {
  const { outputs } = resolveOutputs(plan, known);
  return Object.entries(parts).map(([id, part]) => {
    const sources = new Set<string>(scanReferences(part).map(({ root }) => root));
    const tools = plan.steps.filter((step) => sources.has(step.id)).map(toolOfStep);
    const output = outputs[id];
    const shown = output === undefined ? undefined : withoutSecrets(output);
    return { id, tool: [...new Set(tools)].join(", "), output: shown };
  });
}
