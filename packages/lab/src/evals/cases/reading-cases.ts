import type { DiagnosticCode } from "@planwright/plan";
import type { ScriptedAnswer } from "@planwright/testing";
import { z } from "zod";
import { TOOLS } from "../../../../reading/test/answers/base-plans.ts";
import recorded from "../../../../reading/test/data/model-answers.json" with { type: "json" };
import type { Ending, EvalCase } from "./eval-case.ts";
import { planEnding } from "./plan-ending.ts";

const RecordedSchema = z.object({
  family: z.string(),
  title: z.string(),
  query: z.string(),
  answer: z.array(z.string()),
  finishReason: z.string().optional(),
  steps: z.array(z.json()).optional(),
  errors: z.array(z.string()).optional(),
});
type Recorded = z.infer<typeof RecordedSchema>;

/**
 * Single answers of many families of models. The wanted plan is the one in the answer, whatever its query
 * asks.
 */
export function readingCases(): EvalCase[] {
  return z
    .array(RecordedSchema)
    .parse(recorded)
    .map((each) => ({
      id: `reading/${each.family}: ${each.title}`,
      source: "reading" as const,
      domain: "recorded answers",
      query: each.query,
      tools: TOOLS,
      answers: [
        { type: "answer", text: each.answer.join("\n"), finishReason: finishReasonOf(each) } as const,
      ],
      wanted: endingOf(each),
    }));
}

/** The finish reason in the protocol of the scripted server. */
function finishReasonOf({ finishReason }: Recorded): NonNullable<ScriptedAnswer["finishReason"]> {
  if (finishReason === "length") return "length";
  return finishReason === "SAFETY" ? "content_filter" : "stop";
}

/**
 * The code with which planning ends when a model repeats an answer with this diagnostic. All other
 * diagnostics leave an invalid plan.
 */
const FINAL: { readonly [code in DiagnosticCode]?: string } = {
  ANSWER_DECLINED: "NOT_PLANNABLE",
  ANSWER_REFUSED: "MODEL_REFUSED",
  ANSWER_TRUNCATED: "MODEL_ANSWER_TRUNCATED",
  PLAN_NOT_JSON: "MODEL_ANSWER_UNREADABLE",
};

function endingOf(recording: Recorded): Ending {
  if (recording.steps) return planEnding(recording.steps);
  if (finishReasonOf(recording) === "content_filter")
    return { type: "refusal", code: "MODEL_CONTENT_FILTERED" };
  const codes: ReadonlyMap<string, string> = new Map(Object.entries(FINAL));
  const errors = recording.errors ?? [];
  const isOpen = (error: string): boolean =>
    error === "ARGUMENT_PLACEHOLDER" || error === "ARGUMENT_UNSOURCED";
  const isAsked = errors.length > 0 && errors.every(isOpen);
  if (isAsked || errors.includes("ANSWER_ASKS")) return { type: "questions", missing: [] };
  const code = errors.flatMap((error) => codes.get(error) ?? []).at(0);
  return { type: "refusal", code: code ?? "PLAN_INVALID" };
}
