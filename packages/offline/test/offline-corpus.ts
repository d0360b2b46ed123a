import { readdirSync, readFileSync } from "node:fs";
import { DraftError } from "@planwright/models";
import { nameTools } from "@planwright/plan";
import { z } from "zod";
import { planByRules, ValueMissingError } from "../src/index.ts";

const StepSchema = z.strictObject({
  id: z.string(),
  tool: z.string(),
  arguments: z.record(z.string(), z.json()),
  dependsOn: z.array(z.string()).optional(),
});

/**
 * The expected answer to a request: a plan, questions about missing values (`tool.parameter`), or a refusal.
 */
const ExpectedSchema = z.union([
  z.strictObject({ steps: z.array(StepSchema).min(1) }),
  z.strictObject({ missing: z.array(z.string()).min(1) }),
  z.strictObject({ notUnderstood: z.literal(true) }),
]);
export type Expected = z.infer<typeof ExpectedSchema>;

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
    .array(z.strictObject({ query: z.string(), context: ContextSchema.optional(), expected: ExpectedSchema }))
    .min(1),
});

const FOLDER = new URL("offline-corpus/", import.meta.url);

/** One catalogue with its requests, a file each. */
export const DOMAINS = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".json"))
  .toSorted()
  .map((name) => DomainSchema.parse(JSON.parse(readFileSync(new URL(name, FOLDER), "utf8"))));

/** Every request of the corpus with its catalogue. */
export const CASES = DOMAINS.flatMap(({ domain, tools, cases }) =>
  cases.map((each) => ({ domain, tools, ...each })),
);

/** The answer of the rules to a request, in the form of the corpus. */
export function answerTo({
  query,
  tools,
  context,
}: Pick<(typeof CASES)[number], "query" | "tools"> &
  Partial<Pick<(typeof CASES)[number], "context">>): Expected {
  try {
    return { steps: planByRules(query, tools, context).steps };
  } catch (error) {
    if (error instanceof ValueMissingError) {
      return { missing: error.facts.missing.map(({ tool, parameter }) => `${tool}.${parameter}`) };
    }
    if (error instanceof DraftError && error.code === "NOT_UNDERSTOOD") return { notUnderstood: true };
    throw error;
  }
}
