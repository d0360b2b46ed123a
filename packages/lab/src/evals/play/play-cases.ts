import { createDrafter, type DraftErrorCode, type Drafter } from "@planwright/models";
import { createOfflineDrafter } from "@planwright/offline";
import { toolOfStep } from "@planwright/plan";
import { answer, type ModelRequest, type ScriptedAnswer, startModelServer } from "@planwright/testing";
import type { Ending, EvalCase } from "../cases/eval-case.ts";
import { type Grade, grade } from "../grading/grade.ts";
import { gradeDeeds } from "../grading/grade-deeds.ts";
import type { GradedCase } from "./graded-case.ts";
import { runCase } from "./run-case.ts";

/** Plays each case on its recorded answers, or with the offline drafter where it has none. */
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
    // One at a time, so that every call belongs to the case under way.
    for (const each of cases) {
      const { answers } = each;
      let asked = 0;
      server.script(({ body }) => {
        if (isOffer(body)) return each.direct ?? NO_CALLS;
        const hidden = [...toolsNotIn(body, each.wanted), ...languageNotIn(body, each.wanted)];
        if (hidden.length > 0) return answer({ steps: [], impossible: `not shown: ${hidden.join(", ")}` });
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
async function gradeOf(each: EvalCase, wanted: Ending, ending: Ending, exactly: boolean): Promise<Grade> {
  const { worlds, tools } = each;
  if (worlds && wanted.type === "plan") return gradeDeeds(wanted.plan, ending, { tools, worlds });
  return grade(wanted, ending, exactly);
}

/**
 * True when tools are offered for plain calls: the form of a plan is asked for by a schema, or by one tool
 * that has to be called.
 */
const isOffer = (body: ModelRequest["body"]) =>
  body["tools"] !== undefined && body["tool_choice"] === undefined;
/**
 * Wanted tools that the prompt does not show: a model could not have answered as it did, so retrieval failed.
 */
function toolsNotIn(body: ModelRequest["body"], wanted: Ending): string[] {
  if (wanted.type !== "plan") return [];
  const prompt = JSON.stringify(body["messages"] ?? []);
  const isShown = (tool: string) =>
    prompt.includes(JSON.stringify(`"name":${JSON.stringify(tool)}`).slice(1, -1));
  return wanted.plan.steps.map(toolOfStep).filter((tool) => !isShown(tool));
}

/** Parts of the plan language that the wanted plan needs and that no rule of the prompt offers. */
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

/** Requests asked of a live model at once. */
const AT_ONCE = 4;

/**
 * Asks a live model for every request once, and grades what it makes of it.
 * @param onDone - after each, with how many are done
 */
export async function playLive(
  cases: readonly EvalCase[],
  drafter: Drafter,
  onDone: (done: number, of: number) => void,
): Promise<GradedCase[]> {
  const open = forLiveModels(cases);
  const waiting = open.entries();
  const graded: GradedCase[] = [];
  const work = async () => {
    for (const [, each] of waiting) {
      const played = await runCase(each, drafter);
      graded.push({ ...each, played, grade: await gradeOf(each, each.wanted, played.ending, false) });
      onDone(graded.length, open.length);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return graded.toSorted((a, b) => a.id.localeCompare(b.id));
}

/**
 * The requests for a live model: each once, without those that test the reading of single answers, and
 * without those that only the offline rules do not understand.
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
