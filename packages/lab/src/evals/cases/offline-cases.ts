import { readdirSync, readFileSync } from "node:fs";
import { nameTools } from "@planwright/plan";
import { z } from "zod";
import { type Ending, type EvalCase, planEnding } from "./eval-case.ts";

const StepSchema = z.strictObject({
  id: z.string(),
  tool: z.string(),
  arguments: z.record(z.string(), z.json()),
  dependsOn: z.array(z.string()).optional(),
});

/** The right answer to a request: a plan, questions about missing values (`tool.parameter`), or a refusal. */
const ExpectedSchema = z.union([
  z.strictObject({ steps: z.array(StepSchema).min(1) }),
  z.strictObject({ missing: z.array(z.string()).min(1) }),
  z.strictObject({ notUnderstood: z.literal(true) }),
]);

const SchemaSchema = z.record(z.string(), z.json());

/** A tool as its server lists it. */
const ToolSchema = z.strictObject({
  name: z.string(),
  /** Absent where it does not matter. */
  server: z.string().optional(),
  description: z.string(),
  inputSchema: SchemaSchema,
  outputSchema: SchemaSchema.optional(),
});

/** The current time and the time zone; absent: the current day is unknown. */
export const ContextSchema = z.strictObject({
  now: z.iso.datetime().transform((text) => new Date(text)),
  timezone: z.string().default("UTC"),
});

const DomainSchema = z.strictObject({
  domain: z.string(),
  tools: z.array(ToolSchema).min(1).transform(nameTools),
  cases: z
    .array(
      z.strictObject({
        query: z.string(),
        context: ContextSchema.optional(),
        expected: ExpectedSchema,
        /** Models can plan it, but the grammar of the offline drafter has no such sentence: it refuses. */
        beyondGrammar: z.literal(true).optional(),
      }),
    )
    .min(1),
});

const FOLDER = new URL("requests/", import.meta.url);

/** One catalogue with its requests, a file each. */
export const DOMAINS = readdirSync(FOLDER)
  .toSorted()
  .map((name) => DomainSchema.parse(JSON.parse(readFileSync(new URL(name, FOLDER), "utf8"))));

/** Requests that the offline drafter plans, asks about or refuses. */
export function offlineCases(): EvalCase[] {
  return DOMAINS.flatMap(({ domain, tools, cases }) =>
    cases.map(({ query, context, expected, beyondGrammar }) => ({
      id: `offline/${domain}: ${query}${context ? ` (${context.now.toISOString()} ${context.timezone})` : ""}`,
      source: "offline" as const,
      domain,
      query,
      context,
      tools,
      answers: [],
      wanted: endingOf(expected),
      wantedOfAnswers: beyondGrammar ? NOT_UNDERSTOOD : undefined,
    })),
  );
}

const NOT_UNDERSTOOD: Ending = { type: "refusal", code: "NOT_UNDERSTOOD" };

function endingOf(expected: z.infer<typeof ExpectedSchema>): Ending {
  if ("steps" in expected) return planEnding(expected.steps);
  if ("missing" in expected) return { type: "questions", missing: expected.missing.toSorted() };
  return NOT_UNDERSTOOD;
}
