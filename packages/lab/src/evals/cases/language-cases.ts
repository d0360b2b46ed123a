import { readdirSync, readFileSync } from "node:fs";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  nameTools,
  type ToolDescriptor,
} from "@planwright/plan";
import { z } from "zod";

import { CaseInvalidError, type EvalCase, planEnding, WorldSchema } from "./eval-case.ts";
import { DOMAINS } from "./offline-cases.ts";

const PlanSchema = z.strictObject({ steps: z.array(z.json()).min(1), outputs: z.json().optional() });

const FileSchema = z.strictObject({
  /** What the requests need: loops, conditions, outputs, several of these, or none. */
  group: z.string(),
  cases: z
    .array(
      z.strictObject({
        title: z.string(),
        /** A domain of `requests`, or the domain of `catalogue.json`. */
        catalogue: z.string(),
        query: z.string(),
        /** The first answer and those to repairs; each is written in every habit. */
        answers: z.array(z.json()).min(1),
        /** A plan that does what the request asks. */
        expected: PlanSchema,
        worlds: z.array(WorldSchema).min(1),
      }),
    )
    .min(1),
});

const ToolsSchema = z.strictObject({
  domain: z.string(),
  tools: z.array(
    z.strictObject({
      name: z.string(),
      description: z.string(),
      annotations: z.record(z.string(), z.json()).optional(),
      inputSchema: z.record(z.string(), z.json()),
      outputSchema: z.record(z.string(), z.json()).optional(),
    }),
  ),
});

const FOLDER = new URL("language/", import.meta.url);
const read = (name: string): unknown => JSON.parse(readFileSync(new URL(name, FOLDER), "utf8"));
const CATALOGUE = "catalogue.json";

/**
 * Requests that need lists of calls, conditions or chosen outputs, and requests that only seem to, with
 * answers of models in several habits. Plans are graded by the calls that they make.
 * @throws {CaseInvalidError | z.ZodError}
 */
export function languageCases(): EvalCase[] {
  const languageTools = ToolsSchema.parse(read(CATALOGUE));
  const catalogues = new Map<string, readonly ToolDescriptor[]>([
    ...DOMAINS.map(({ domain, tools }) => [domain, tools] as const),
    [languageTools.domain, nameTools(languageTools.tools)],
  ]);
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith(".json") && name !== CATALOGUE)
    .toSorted()
    .flatMap((name) => casesOf(FileSchema.parse(read(name)), catalogues));
}

function casesOf(
  { group, cases }: z.infer<typeof FileSchema>,
  catalogues: ReadonlyMap<string, readonly ToolDescriptor[]>,
): EvalCase[] {
  return cases.flatMap(({ title, catalogue, query, answers, expected, worlds }) => {
    const tools = catalogues.get(catalogue);
    if (!tools) throw new CaseInvalidError({ reason: `there is no catalogue ${catalogue}` });
    const wanted = planEnding(expected.steps, expected.outputs);
    return HABITS.map((habit) => ({
      id: `language/${group}: ${title} (${habit})`,
      source: "language" as const,
      domain: group,
      query,
      tools,
      answers: answers.map((recorded: JsonValue) => ({
        type: "answer" as const,
        text: inHabit(recorded, habit),
      })),
      wanted,
      worlds,
    }));
  });
}

/** Ways in which models write the same plan. Cases are written in the first one. */
export const HABITS = ["short", "strict", "in do", "curly"] as const;
type Habit = (typeof HABITS)[number];

/** The text of an answer in a habit. An answer that is not a plan is not changed. */
export function inHabit(answer: JsonValue, habit: Habit): string {
  if (!isJsonObject(answer) || !Array.isArray(answer["steps"])) return JSON.stringify(answer);
  const { steps, ...rest } = answer;
  const calls = steps.filter(isJsonObject);
  switch (habit) {
    case "short":
      return JSON.stringify(answer);
    case "strict":
      return JSON.stringify({ steps: calls.map(strict), ...strictRest(rest) });
    case "in do":
      return `\`\`\`json\n${JSON.stringify({ steps: calls.map(inDo), ...rest }, null, 2)}\n\`\`\``;
    case "curly":
      return `Here is the plan:\n${curly(JSON.stringify({ tools: calls.map(chained), ...rest }))}`;
  }
}

const textOf = (value: JsonValue | undefined) =>
  value === undefined || typeof value === "string" ? (value ?? null) : JSON.stringify(value);

/** The call with every field of the strict form; unused fields are null. */
function strict({ tool, id, arguments: args, dependsOn, forEach, when }: JsonObject): JsonObject {
  return {
    id: id ?? tool ?? null,
    tool: tool ?? null,
    arguments: JSON.stringify(args ?? {}),
    dependsOn: dependsOn ?? [],
    forEach: textOf(forEach),
    when: textOf(when),
  };
}

const strictRest = ({ outputs = null, missing = null, impossible = null }: JsonObject): JsonObject => ({
  outputs,
  missing,
  impossible,
});

/** The call inside the forEach, whose item has a different name. */
function inDo({ tool, arguments: args, forEach, ...rest }: JsonObject): JsonObject {
  if (typeof forEach !== "string")
    return { tool: tool ?? null, arguments: args ?? {}, ...rest, ...(forEach && { forEach }) };
  const renamed = JSON.stringify(args ?? {}).replaceAll("<<item", "<<entry");
  const call = { tool: tool ?? null, arguments: JSON.parse(renamed) as JsonObject };
  return { id: tool ?? null, ...rest, forEach: { items: forEach, as: "entry", do: call } };
}

function chained({ tool, arguments: args, ...rest }: JsonObject): JsonObject {
  return { ...rest, name: tool ?? null, parameters: args ?? {} };
}

/** References in the notation of tool chaining. */
const curly = (text: string) => text.replaceAll("<<", "{{").replaceAll(">>", "}}");
