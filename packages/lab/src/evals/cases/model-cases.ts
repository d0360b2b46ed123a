import { readdirSync, readFileSync } from "node:fs";
import { type DiagnosticCode, JsonObjectSchema, type ToolDescriptor } from "@planwright/plan";
import type { ScriptedAnswer } from "@planwright/testing";
import { z } from "zod";
import { thousandTools } from "../../../../models/test/thousand-tools/thousand-tools.ts";
import { TOOLS } from "../../../../reading/test/answers/base-plans.ts";
import recorded from "../../../../reading/test/data/model-answers.json" with { type: "json" };
import { CaseInvalidError, type Ending, type EvalCase, planEnding } from "./eval-case.ts";
import { ContextSchema, DOMAINS } from "./offline-cases.ts";

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
      wanted: recordedEnding(each),
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

function recordedEnding(recording: Recorded): Ending {
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

/** A part of the catalogue of 1,000 tools: all tools of some servers, or single tools. */
const CataloguesSchema = z.record(
  z.string(),
  z.union([
    z.strictObject({ servers: z.array(z.string()).min(1) }),
    z.strictObject({ tools: z.array(z.string()).min(1) }),
  ]),
);

/**
 * Catalogues of three to hundreds of tools, by name, as `sized-catalogues.json` defines them.
 * @throws {CaseInvalidError} for an unknown server or tool
 */
function sizedCatalogues(): Map<string, ToolDescriptor[]> {
  const all = thousandTools();
  const listed = CataloguesSchema.parse(
    JSON.parse(readFileSync(new URL("sized-catalogues.json", import.meta.url), "utf8")),
  );
  const toolsBy = (key: "server" | "name", wanted: string) => {
    const found = all.filter((tool) => tool[key] === wanted);
    if (found.length === 0) throw new CaseInvalidError({ reason: `there is no ${key} ${wanted}` });
    return found;
  };
  return new Map(
    Object.entries(listed).map(([name, parts]) => [
      name,
      "servers" in parts
        ? parts.servers.flatMap((server) => toolsBy("server", server))
        : parts.tools.flatMap((tool) => toolsBy("name", tool)),
    ]),
  );
}

/**
 * An answer of a model: its text, its lines, or a JSON value that is written in one line; each also with a
 * finish reason.
 */
const TextSchema = z.union([z.string(), z.array(z.string()).min(1), z.strictObject({ json: z.json() })]);
const AnswerSchema = z.union([
  TextSchema,
  z.strictObject({
    text: TextSchema,
    finishReason: z.enum(["stop", "length", "content_filter"]).optional(),
    refusal: z.string().optional(),
  }),
]);

const ExpectedSchema = z.union([
  z.strictObject({ steps: z.array(z.json()).min(1) }),
  z.strictObject({ missing: z.array(z.string()) }),
  z.strictObject({ refused: z.string() }),
]);

const FileSchema = z.strictObject({
  /**
   * A domain of `requests`, or a catalogue of `sized-catalogues.json`, whose tools these requests may
   * use.
   */
  catalogue: z.string(),
  cases: z
    .array(
      z.strictObject({
        title: z.string(),
        query: z.string(),
        context: ContextSchema.extend({ facts: JsonObjectSchema.optional() }).optional(),
        answers: z.array(AnswerSchema).min(1),
        /** Calls that the model makes when the prompt offers tools instead of asking for a plan. */
        calls: z
          .array(z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.json()) }))
          .optional(),
        expected: ExpectedSchema,
        /** Code of the refusal in which these answers end, when the request needs a different ending. */
        endsIn: z.string().optional(),
      }),
    )
    .min(1),
});

const SIZED = sizedCatalogues();
const FOLDER = new URL("model/", import.meta.url);

/** Requests with recorded drafts and repairs of models. @throws {CaseInvalidError | z.ZodError} */
export function modelCases(): EvalCase[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith(".json"))
    .toSorted()
    .flatMap((name) => casesOf(FileSchema.parse(JSON.parse(readFileSync(new URL(name, FOLDER), "utf8")))));
}

function casesOf({ catalogue, cases }: z.infer<typeof FileSchema>): EvalCase[] {
  const tools = DOMAINS.find(({ domain }) => domain === catalogue)?.tools ?? SIZED.get(catalogue);
  if (!tools) throw new CaseInvalidError({ reason: `there is no catalogue ${catalogue}` });
  return cases.map(({ title, query, context, answers, calls, expected, endsIn }) => ({
    id: `model/${catalogue}: ${title}`,
    source: "model",
    domain: catalogue,
    query,
    context: context && { ...context, facts: context.facts ?? {} },
    tools,
    answers: answers.map(toAnswer),
    direct: calls && { type: "answer", toolCalls: calls },
    wanted: endingOf(expected),
    wantedOfAnswers: endsIn === undefined ? undefined : { type: "refusal", code: endsIn },
  }));
}

function toAnswer(recorded: z.infer<typeof AnswerSchema>): ScriptedAnswer {
  if (typeof recorded === "string" || Array.isArray(recorded) || "json" in recorded) {
    return { type: "answer", text: textOf(recorded) };
  }
  const { text, finishReason, refusal } = recorded;
  return {
    type: "answer",
    text: textOf(text),
    ...(finishReason === undefined ? {} : { finishReason }),
    ...(refusal === undefined ? {} : { refusal }),
  };
}

function textOf(text: z.infer<typeof TextSchema>): string {
  if (typeof text === "string") return text;
  return Array.isArray(text) ? text.join("\n") : JSON.stringify(text.json);
}

function endingOf(expected: z.infer<typeof ExpectedSchema>): Ending {
  if ("steps" in expected) return planEnding(expected.steps);
  if ("missing" in expected) return { type: "questions", missing: expected.missing.toSorted() };
  return { type: "refusal", code: expected.refused };
}
