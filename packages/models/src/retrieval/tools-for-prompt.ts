import type { DraftInput } from "../draft/drafter.ts";
import { cutMiddle } from "../prompts/cut-middle.ts";
import { draftMessages } from "../prompts/draft-messages.ts";
import { estimateTokens } from "../prompts/estimate-tokens.ts";
import { outputRules } from "../prompts/output-rules.ts";
import {
  MAX_PROMPT_TOKENS,
  MIN_TOOL_TOKENS,
  PREVIOUS_TOKENS,
  RESERVED_TOKENS,
} from "../prompts/prompt-budget.ts";
import { type RetrievedTools, retrieveTools } from "./retrieve-tools.ts";

const MAX_TEXT = 60_000;

/**
 * The tools to show to a model: the complete catalogue when it fits, otherwise the tools that the request
 * needs. They get the tokens of `MAX_PROMPT_TOKENS` that the other messages of {@link draftMessages} leave,
 * and at least 1,500. A repair also shows the tools that the diagnostics and the last answer name, a replan
 * those of the failed plan.
 */
export function toolsForPrompt({
  query,
  context,
  tools,
  repair,
  replan,
}: Pick<DraftInput, "query" | "context" | "tools" | "repair" | "replan">): RetrievedTools {
  // The last answer may use tokens that the tools leave, so the tools are chosen with only a part of it.
  const shown = repair && { ...repair, previous: cutMiddle(repair.previous, PREVIOUS_TOKENS.max) };
  const around = draftMessages({ query, context, tools: [], repair: shown, replan }).map(({ content }) =>
    estimateTokens(content),
  );
  const ofOutputs = estimateTokens(outputRules(tools));
  const taken = around.reduce((sum, tokens) => sum + tokens, RESERVED_TOKENS + ofOutputs);
  const maxTokens = Math.max(MIN_TOOL_TOKENS, MAX_PROMPT_TOKENS - taken);
  const before = new Set(replan?.steps.map(({ tool }) => tool));
  const named = [...before, ...(repair ? namesIn(repair) : [])];
  return retrieveTools({ query, tools, maxTokens, named });
}

/**
 * All words in a repair that could be names of tools: those of diagnostics and suggestions first, then those
 * of the last answer.
 */
function namesIn({ diagnostics, previous }: NonNullable<DraftInput["repair"]>): string[] {
  const found = diagnostics.map(({ message, suggestion }) => `${suggestion ?? ""} ${message}`).join(" ");
  const words = `${found} ${previous}`.slice(0, MAX_TEXT).match(/[A-Za-z0-9._/-]+/g) ?? [];
  // A full stop or a colon after a name is not part of it.
  return [...new Set(words.map((word) => word.replace(/[./]+$/, "")))];
}
