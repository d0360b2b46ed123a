import { createDrafter, type DraftErrorCode, type Drafter } from "@planwright/models";
import { createOfflineDrafter, ValueMissingError } from "@planwright/offline";
import { toolOfStep } from "@planwright/plan";
import { answer, type ModelRequest, type ScriptedAnswer, startModelServer } from "@planwright/testing";
import { createPlanRequest } from "../../../../services/planner/src/jobs/plan-request.ts";
import { createPlanningWork } from "../../../../services/planner/src/jobs/planning-work.ts";
import {
  createMemoryPlanningStore,
  heldIn,
  type MemoryPlanningStore,
} from "../../../../services/planner/test/memory-planning-store.ts";
import type { Ending, EvalCase } from "./cases/eval-case.ts";
import { type Grade, grade, gradeEffects } from "./grade.ts";

/** Plays each case with its recorded answers; a case without answers is planned by the offline drafter. */
export async function playRecorded(cases: readonly EvalCase[]): Promise<GradedCase[]> {
  const server = await startModelServer();
  try {
    const model = createDrafter({
      MODEL: "openai:recorded",
      OPENAI_BASE_URL: server.openAiUrl,
      MODEL_MAX_RETRIES: 0,
    });
    const offline = createOfflineDrafter();
    const graded: GradedCase[] = [];
    // One at a time, so that every call belongs to the current case.
    for (const each of cases) {
      const { answers } = each;
      let asked = 0;
      server.script(({ body }) => {
        if (isOffer(body)) return each.direct ?? NO_CALLS;
        const missing = [...toolsNotIn(body, each.wanted), ...languageNotIn(body, each.wanted)];
        if (missing.length > 0)
          return answer({ steps: [], impossible: `the prompt lacks: ${missing.join(", ")}` });
        return (
          answers[Math.min(asked++, answers.length - 1)] ?? {
            type: "error",
            status: 400,
            message: "no answer is recorded",
          }
        );
      });
      const played = await runCase(each, answers.length > 0 ? model : offline);
      const wanted = each.wantedOfAnswers ?? each.wanted;
      graded.push({ ...each, wanted, played, grade: await gradeOf(each, wanted, played.ending, true) });
    }
    return graded;
  } finally {
    await server.close();
  }
}

/** Grades a plan by its effects when the case has worlds, otherwise by its text. */
async function gradeOf(each: EvalCase, wanted: Ending, ending: Ending, isExact: boolean): Promise<Grade> {
  const { worlds, tools } = each;
  if (worlds && wanted.type === "plan") return gradeEffects(wanted.plan, ending, { tools, worlds });
  return grade(wanted, ending, isExact);
}

/**
 * True when the prompt offers tools for direct calls. A prompt for a plan has a schema, or one tool that must
 * be called.
 */
const isOffer = (body: ModelRequest["body"]) =>
  body["tools"] !== undefined && body["tool_choice"] === undefined;
/**
 * Wanted tools that are missing in the prompt. Without them a model could not have given its recorded answer,
 * so retrieval failed.
 */
function toolsNotIn(body: ModelRequest["body"], wanted: Ending): string[] {
  if (wanted.type !== "plan") return [];
  const prompt = JSON.stringify(body["messages"] ?? []);
  const isShown = (tool: string) =>
    prompt.includes(JSON.stringify(`"name":${JSON.stringify(tool)}`).slice(1, -1));
  return wanted.plan.steps.map(toolOfStep).filter((tool) => !isShown(tool));
}

/** Parts of the plan language that the wanted plan needs and the prompt's rules do not describe. */
function languageNotIn(body: ModelRequest["body"], wanted: Ending): string[] {
  if (wanted.type !== "plan") return [];
  const { steps, outputs } = wanted.plan;
  const needed = [
    ...(steps.some((step) => "forEach" in step) ? ["forEach"] : []),
    ...(steps.some((step) => "when" in step) ? ["when"] : []),
    ...(outputs === undefined ? [] : ["outputs"]),
  ];
  const prompt = JSON.stringify(body["messages"] ?? []);
  return needed.filter((part) => !prompt.includes(JSON.stringify(`"${part}"`).slice(1, -1)));
}
const NO_CALLS: ScriptedAnswer = { type: "answer", text: "PLAN" };

/** Concurrent requests to a live model. */
const AT_ONCE = 4;

/**
 * Asks a live model once for every request, and grades its answers.
 * @param onDone - called after each request with the number of finished ones
 */
export async function playLive(
  cases: readonly EvalCase[],
  drafter: Drafter,
  onDone: (done: number, of: number) => void,
): Promise<GradedCase[]> {
  const requests = forLiveModels(cases);
  const waiting = requests.entries();
  const graded: GradedCase[] = [];
  const playNext = async () => {
    for (const [, each] of waiting) {
      const played = await runCase(each, drafter);
      graded.push({ ...each, played, grade: await gradeOf(each, each.wanted, played.ending, false) });
      onDone(graded.length, requests.length);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, playNext));
  return graded.toSorted((a, b) => a.id.localeCompare(b.id));
}

/**
 * The requests for a live model, each once: without those that test the reading of single answers, and
 * without those that only the offline rules refuse.
 */
export function forLiveModels(cases: readonly EvalCase[]): EvalCase[] {
  const seen = new Set<string>();
  return cases.filter(({ source, domain, query, wanted }) => {
    const key = `${domain}: ${query}`;
    if (source === "reading" || seen.has(key)) return false;
    seen.add(key);
    return !(wanted.type === "refusal" && wanted.code === "NOT_UNDERSTOOD");
  });
}

/** Errors of the provider, not of the model. */
const UNANSWERED: ReadonlySet<string> = new Set<DraftErrorCode>([
  "MODEL_UNAUTHORIZED",
  "MODEL_NOT_FOUND",
  "MODEL_RATE_LIMITED",
  "MODEL_TIMEOUT",
  "MODEL_UNREACHABLE",
]);

/** True when the model could not answer because of its provider. */
export function isUnanswered({ played: { ending } }: Pick<GradedCase, "played">): boolean {
  return ending.type === "refusal" && UNANSWERED.has(ending.code);
}

/** The result of planning a case. */
export interface Played {
  ending: Ending;
  /** Calls of the model, failed ones included. */
  calls: number;
  repairs: number;
  /** Number of the stored plan's warnings about references that contradict outputs of earlier runs. */
  doubts: number;
  /** Tokens as the provider counts them; 0 when it does not. */
  inputTokens: number;
  outputTokens: number;
}

/** Plans one request with the planner's graph and a store in memory. */
export async function runCase(
  { query, context, tools }: Pick<EvalCase, "query" | "context" | "tools">,
  drafter: Drafter,
): Promise<Played> {
  const store = createMemoryPlanningStore({ query, tools: [...tools], ...(context && { context }) });
  const missing = new Set<string>();
  const planRequest = createPlanRequest({
    held: heldIn(store),
    work: createPlanningWork({ store, drafter: collectingMissing(drafter, missing) }),
    offerExecution: () => {},
  });
  await planRequest(store.request._id, new AbortController().signal);
  const calls = drafter.kind === "model" ? store.calls : [];
  const sum = (of: (call: (typeof calls)[number]) => number | null) =>
    calls.reduce((total, call) => total + (of(call) ?? 0), 0);
  return {
    ending: endingOf(store, missing),
    calls: calls.length,
    repairs: calls.filter(({ purpose }) => purpose === "repair").length,
    doubts: (store.plans.at(0)?.diagnostics ?? []).filter(({ observedIn }) => observedIn !== undefined)
      .length,
    inputTokens: sum(({ inputTokens }) => inputTokens),
    outputTokens: sum(({ outputTokens }) => outputTokens),
  };
}

/** Wraps a drafter to collect missing parameters, because the stored questions are plain text. */
function collectingMissing(drafter: Drafter, missing: Set<string>): Drafter {
  return {
    ...drafter,
    draft: (input) =>
      drafter.draft(input).catch((error: unknown) => {
        if (error instanceof ValueMissingError) {
          for (const { tool, parameter } of error.facts.missing) missing.add(`${tool}.${parameter}`);
        }
        throw error;
      }),
  };
}

function endingOf(store: MemoryPlanningStore, missing: ReadonlySet<string>): Ending {
  const plan = store.plans.at(0)?.plan;
  if (plan) return { type: "plan", plan };
  if (store.request.status === "NEEDS_INPUT") return { type: "questions", missing: [...missing].toSorted() };
  return { type: "refusal", code: store.failures.at(0)?.error.code ?? "NOTHING_STORED" };
}

/** A case that was played and graded. */
export interface GradedCase {
  id: string;
  source: string;
  domain: string;
  wanted: Ending;
  played: Played;
  grade: Grade;
}
