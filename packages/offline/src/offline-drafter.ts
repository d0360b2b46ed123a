import { type Drafter, NoToolsError } from "@planwright/models";
import { toolWordsOf } from "@planwright/models/words";
import {
  findMoments,
  type Gap,
  type JsonObject,
  type PlanningContext,
  stringifyExactJson,
  type ToolDescriptor,
} from "@planwright/plan";
import { type Clause, splitClauses } from "./clauses/clauses.ts";
import type { ToolMatch } from "./clauses/match-tool.ts";
import type { PlannedStep } from "./links/links.ts";
import { type ClauseInput, planClause, toolsFor } from "./plan-clause.ts";
import { mistypedVerb } from "./refusal/mistyped-verb.ts";
import { nearestTools } from "./refusal/nearest-tools.ts";
import { ModelRequiredError, NotUnderstoodError, ValueMissingError } from "./refusal/offline-errors.ts";
import { tokenize } from "./text/tokens.ts";

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
    draft: async ({ query, context, tools, replan, signal }) => {
      signal.throwIfAborted();
      if (replan) throw new ModelRequiredError("replan");
      const text = stringifyExactJson(planByRules(query, tools, context));
      const usage = { inputTokens: null, outputTokens: null };
      return { text, usage, finishReason: "stop", latencyMs: 0, messages: [] };
    },
    answer: async () => {
      throw new ModelRequiredError("answer");
    },
  };
}

/**
 * The plan that a sentence asks for. Every clause becomes at least one step and every word is used, or the
 * sentence is refused.
 * @param context - the current time and the time zone; without it words such as "tomorrow" mean no day
 * @throws {NotUnderstoodError} naming the clause and the nearest tools
 * @throws {ValueMissingError} naming the values that tools require and the sentence does not give
 * @throws {NoToolsError}
 */
export function planByRules(
  query: string,
  tools: readonly ToolDescriptor[],
  context?: Pick<PlanningContext, "now" | "timezone">,
): OfflinePlan {
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
  const moments = context ? findMoments(query, context).moments : [];
  const steps: PlannedStep[] = [];
  let stage = 0;
  for (const [index, clause] of clauses.entries()) {
    if (clause.verb === null) throw refuse(clause.text, noVerb(mistypedVerb(clause.text, catalogue)));
    if (clause.isSequel && index > 0) stage += 1;
    const input = { clause, index, stage, sentence: query, moments, steps, catalogue };
    const matches = toolsFor(input);
    if (matches.length === 0) throw refuse(clause.text, "no tool fits its verb and noun");
    steps.push(...planOrRefuse(input, matches, (reason) => refuse(clause.text, reason)));
  }
  const plan = { steps: steps.map(toStep) };
  requireValues(steps, clauses, plan);
  return plan;
}

const noVerb = (meant: string | null) =>
  `it does not begin with a verb that the rules know${meant === null ? "" : `; did you mean "${meant}"?`}`;

/**
 * When several tools fit by the verb alone, a failure says only that no tool fits, and names the nearest
 * tools.
 */
function planOrRefuse(
  input: ClauseInput,
  matches: readonly ToolMatch[],
  refusal: (reason: string) => NotUnderstoodError,
): PlannedStep[] {
  try {
    return planClause(input, matches);
  } catch (error) {
    const isByVerb = matches.every((match) => match.isByVerb);
    if (!(error instanceof NotUnderstoodError) || !isByVerb) throw error;
    throw refusal(matches.length === 1 ? error.facts.reason : "no tool fits its verb and noun");
  }
}

/** Every word was understood: asks for all missing values at once. @throws {ValueMissingError} */
function requireValues(steps: readonly PlannedStep[], clauses: readonly Clause[], draft: OfflinePlan): void {
  const lacking = steps.filter((step) => step.missing.length > 0);
  const [first] = lacking;
  if (!first) return;
  const isOneOfMany = steps.filter((step) => step.clause === first.clause).length > 1;
  throw new ValueMissingError({
    clause: clauses[first.clause]?.text ?? "",
    object: isOneOfMany ? first.name : null,
    missing: lacking.flatMap((step) => step.missing),
    open: { draft: { ...draft }, gaps: lacking.flatMap((step) => gapsOf(step, steps)) },
  });
}

/** When several steps use one tool, a question names the thing that it is about. */
function gapsOf({ id, words, name, missing }: PlannedStep, steps: readonly PlannedStep[]): Gap[] {
  const isOneOfMany = steps.filter((step) => step.words === words).length > 1;
  return missing.map(({ tool, parameter, said, form }) => ({
    stepId: id,
    tool,
    keys: [parameter],
    said,
    form,
    object: isOneOfMany ? name : null,
  }));
}

const toStep = ({ id, words, arguments: given, dependsOn }: PlannedStep) => ({
  id,
  tool: words.tool.name,
  arguments: given,
  ...(dependsOn.length > 0 ? { dependsOn } : {}),
});
