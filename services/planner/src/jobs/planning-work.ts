import { type AnswerInput, createPriceList, DraftError, type Drafter } from "@planwright/models";
import {
  type JsonObject,
  outputParts,
  outputSteps,
  type Plan,
  resolveOutputs,
  scanReferences,
  toolOfStep,
} from "@planwright/plan";
import type {
  ModelWait,
  PlanDocument,
  PlanningClaim,
  PlanningStore,
  PlanRecord,
  RecordedError,
} from "@planwright/store";
import {
  type CallMeterParts,
  createCallMeter,
  PostponedError,
  type PostponeParts,
  postponeIfAway,
  redactedError,
} from "../calls/call-meter.ts";
import { conversationOf, withoutSecrets } from "../drafts/context-of.ts";
import { createPlanningGraph, type PlanningParts } from "../graph/planning-graph.ts";
import { initialReplan, initialState } from "../graph/planning-state.ts";
import { createReplanningGraph, type ReplanningParts } from "../graph/replanning-graph.ts";

/** How the work on one claim ended. */
export type WorkResult =
  | { type: "planned"; plan: PlanDocument }
  | { type: "answered" }
  /** The model is away. The request is claimed again when it is to be tried again. */
  | ({ type: "postponed" } & Pick<ModelWait, "error" | "nextAttemptAt" | "until">)
  | { type: "failed"; code: string; message: string };

/** Does the work that a claimed request waits for. */
export type PlanningWorker = (claim: PlanningClaim, signal: AbortSignal) => Promise<WorkResult>;

/** Dependencies of {@link createPlanningWork}. */
export type PlanningWorkParts = PlanningParts & ReplanningParts & { store: AnswerParts["store"] };

/** The work of a planner: first plans, replans after a failure, and answers in words. */
export function createPlanningWork(parts: PlanningWorkParts): PlanningWorker {
  const prices = parts.prices ?? createPriceList({});
  const planning = createPlanningGraph({ ...parts, prices });
  const replanning = createReplanningGraph({ ...parts, prices });

  return async (claim, signal) => {
    try {
      return await workOn(claim, signal);
    } catch (error) {
      if (error instanceof PostponedError) return { type: "postponed", ...error.facts };
      throw error;
    }
  };

  async function workOn(claim: PlanningClaim, signal: AbortSignal): Promise<WorkResult> {
    switch (claim.request.planning.work) {
      case "answer": {
        const error = await answerRequest({ ...parts, prices }, claim, signal);
        return error ? { type: "failed", ...error } : { type: "answered" };
      }
      case "replan":
        return endOf(await replanning.invoke(initialReplan(claim), { signal }));
      default:
        return endOf(await planning.invoke(initialState(claim), { signal }));
    }
  }
}

function endOf(state: {
  stored: PlanDocument | null;
  failure: { code: string; message: string } | null;
}): WorkResult {
  if (state.stored) return { type: "planned", plan: state.stored };
  const { code, message } = state.failure ?? { code: "PLAN_INVALID", message: "The plan has errors" };
  return { type: "failed", code, message };
}

/** Dependencies of {@link answerRequest}. */
interface AnswerParts extends CallMeterParts, PostponeParts {
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
async function answerRequest(
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
    const output = Object.hasOwn(outputs, id) ? outputs[id] : undefined;
    const shown = output === undefined ? undefined : withoutSecrets(output);
    return { id, tool: [...new Set(tools)].join(", "), output: shown };
  });
}
