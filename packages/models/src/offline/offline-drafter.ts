import type { JsonObject, ToolDescriptor } from "@planwright/plan";
import { NoToolsError, NotUnderstoodError } from "../draft-error.ts";
import type { Drafter } from "../drafter.ts";
import { splitClauses } from "./clauses.ts";
import type { PlannedStep } from "./links.ts";
import { nearestTools } from "./nearest-tools.ts";
import { planClause, toolsFor } from "./plan-clause.ts";
import { tokenize } from "./tokens.ts";
import { toolWordsOf } from "./tool-words.ts";

/** Longer sentences are refused: the rules are made for a few clauses. */
const MAX_QUERY_LENGTH = 4_000;

/** A plan as the offline drafter writes it. */
export interface OfflinePlan {
  steps: { id: string; tool: string; arguments: JsonObject; dependsOn?: string[] }[];
}

/** Plans simple imperative sentences by rules, without a model. The same input gives the same plan. */
export function createOfflineDrafter(): Drafter {
  return {
    name: "offline",
    kind: "offline",
    draft: async ({ query, tools, signal }) => {
      signal.throwIfAborted();
      const text = JSON.stringify(planByRules(query, tools));
      const usage = { inputTokens: null, outputTokens: null };
      return { text, usage, finishReason: "stop", latencyMs: 0, messages: [] };
    },
  };
}

/**
 * The plan that a sentence asks for. Every clause becomes at least one step and every word is used, or the sentence is refused.
 * @throws {NotUnderstoodError} naming the clause and the nearest tools
 * @throws {ValueMissingError} naming the values that tools require and the sentence does not give
 * @throws {NoToolsError}
 */
export function planByRules(query: string, tools: readonly ToolDescriptor[]): OfflinePlan {
  if (tools.length === 0) throw new NoToolsError();
  const catalogue = tools.map(toolWordsOf);
  const refuse = (clause: string, reason: string) =>
    new NotUnderstoodError({
      clause: clause.slice(0, 200),
      reason,
      nearestTools: nearestTools(clause, catalogue),
    });
  if (query.length > MAX_QUERY_LENGTH)
    throw refuse(query, `it is longer than ${MAX_QUERY_LENGTH} characters`);
  if (query.includes("$ref:"))
    throw refuse(query, '"$ref:" would be read as a reference, and it cannot be escaped');
  const clauses = splitClauses(tokenize(query), query, catalogue);
  if (clauses.length === 0) throw refuse(query.trim(), "it asks for nothing");
  const steps: PlannedStep[] = [];
  for (const [index, clause] of clauses.entries()) {
    if (clause.verb === null) throw refuse(clause.text, "it does not begin with a verb that the rules know");
    const input = { clause, index, sentence: query, steps, catalogue };
    const matches = toolsFor(input);
    if (matches.length === 0) throw refuse(clause.text, "no tool fits its verb and noun");
    steps.push(...planClause(input, matches));
  }
  return { steps: steps.map(toStep) };
}

const toStep = ({ id, words, arguments: given, dependsOn }: PlannedStep) => ({
  id,
  tool: words.tool.name,
  arguments: given,
  ...(dependsOn.length > 0 ? { dependsOn } : {}),
});
