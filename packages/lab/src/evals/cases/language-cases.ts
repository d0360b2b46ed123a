import { readdirSync, readFileSync } from "node:fs";
import { type JsonValue, nameTools, type ToolDescriptor } from "@planwright/plan";
import { z } from "zod";
import { DOMAINS } from "../../../../offline/test/offline-corpus.ts";
import { CaseInvalidError } from "./case-invalid-error.ts";
import type { EvalCase } from "./eval-case.ts";
import { HABITS, inHabit } from "./habits.ts";
import { planEnding } from "./plan-ending.ts";
import { WorldSchema } from "./world.ts";

const PlanSchema = z.strictObject({ steps: z.array(z.json()).min(1), outputs: z.json().optional() });

const FileSchema = z.strictObject({
  /** What the requests call for: loops, conditions, outputs, several of them, or nothing of the kind. */
  group: z.string(),
  cases: z
    .array(
      z.strictObject({
        title: z.string(),
        /** A domain of the offline corpus, or the catalogue beside the cases. */
        catalogue: z.string(),
        query: z.string(),
        /** A first answer and those to repairs; each is written in every habit. */
        answers: z.array(z.json()).min(1),
        /** A plan that does what the request asks for. */
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
 * Requests that need lists of calls, conditions or chosen outputs, and some that only look like it; each with
 * what models answer, in several habits. They are graded by the calls that their plans make. @throws
 * {CaseInvalidError | z.ZodError}
 */
export function languageCases(): EvalCase[] {
  const own = ToolsSchema.parse(read(CATALOGUE));
  const catalogues = new Map<string, readonly ToolDescriptor[]>([
    ...DOMAINS.map(({ domain, tools }) => [domain, tools] as const),
    [own.domain, nameTools(own.tools)],
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
      answers: answers.map((said: JsonValue) => ({ type: "answer" as const, text: inHabit(said, habit) })),
      wanted,
      worlds,
    }));
  });
}
