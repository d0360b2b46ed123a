import { createDrafter } from "@planwright/models";
import { observeOutput } from "@planwright/plan";
import { startModelServer } from "@planwright/testing";
import { effectsOf } from "../cases/world.ts";
import { compareEffects } from "../grading/grade-effects.ts";
import { type Played, runCase } from "../play/run-case.ts";
import { guessingModel } from "./guessing-model.ts";
import { afterRuns, type Learner, type UndeclaredCase } from "./undeclared-cases.ts";

/** How often each tool has run before the requests are planned. */
export const RUNS = [0, 1, 3, 10] as const;

/** The outcome of one request. */
export interface UndeclaredOutcome {
  id: string;
  /** True when the plan had the wanted effects in every world. */
  isRight: boolean;
  /** True when a step failed because a reference found no value. */
  hasFailedReference: boolean;
  played: Played;
}

/**
 * Plans every request after each number of runs of its tools, and executes the plans.
 * @param learn - default: the function that executors use
 * @param eachRuns - default: {@link RUNS}
 */
export async function playUndeclared(
  cases: readonly UndeclaredCase[],
  learn: Learner = observeOutput,
  eachRuns: readonly number[] = RUNS,
): Promise<Map<number, UndeclaredOutcome[]>> {
  const server = await startModelServer();
  try {
    const drafter = createDrafter({
      MODEL: "openai:guessing",
      OPENAI_BASE_URL: server.openAiUrl,
      MODEL_MAX_RETRIES: 0,
    });
    const outcomes = new Map<number, UndeclaredOutcome[]>();
    for (const runs of eachRuns) {
      const ofRuns: UndeclaredOutcome[] = [];
      // One at a time, so that every call belongs to the current case.
      for (const each of cases) {
        server.script(guessingModel(each.id, each.wanted));
        const tools = afterRuns(each.tools, runs, learn);
        const asShown = { ...each, tools };
        ofRuns.push(await outcomeOf(asShown, await runCase(asShown, drafter)));
      }
      outcomes.set(runs, ofRuns);
    }
    return outcomes;
  } finally {
    await server.close();
  }
}

async function outcomeOf(
  { id, tools, wanted, worlds }: UndeclaredCase,
  played: Played,
): Promise<UndeclaredOutcome> {
  if (played.ending.type !== "plan") return { id, isRight: false, hasFailedReference: false, played };
  const { plan } = played.ending;
  const judged = await Promise.all(
    worlds.map(async (answers) => {
      const found = await effectsOf(plan, tools, answers);
      const { isExact } = compareEffects(await effectsOf(wanted, tools, answers), found);
      return { isExact, hasFailedReference: found.errors.includes("REFERENCE_MISSING") };
    }),
  );
  return {
    id,
    isRight: judged.every(({ isExact }) => isExact),
    hasFailedReference: judged.some((one) => one.hasFailedReference),
    played,
  };
}
