import type { DraftInput } from "../drafter.ts";
import { draftMessages } from "../prompts/draft-messages.ts";
import { estimateTokens } from "../prompts/estimate-tokens.ts";
import { type RetrievedTools, retrieveTools } from "./retrieve-tools.ts";

/** What the messages of a draft may cost, in estimated tokens. */
export const MAX_PROMPT_TOKENS = 8_000;
/** For the answer's schema and for what providers put around messages. */
const RESERVED_TOKENS = 300;
/** What tools get even beside a request that fills the prompt alone. */
const MIN_TOOL_TOKENS = 1_500;
const MAX_TEXT = 60_000;

/**
 * The tools to show to a model, so that the messages of {@link draftMessages} stay within `MAX_PROMPT_TOKENS`: the whole catalogue when it fits, else
 * those that the request needs. A repair also shows the tools that the findings and the last answer name, a replan those of the plan that failed.
 */
export function toolsForPrompt({
  query,
  tools,
  repair,
  replan,
}: Pick<DraftInput, "query" | "tools" | "repair" | "replan">): RetrievedTools {
  const around = draftMessages({ query, tools: [], repair, replan }).map(({ content }) =>
    estimateTokens(content),
  );
  const taken = around.reduce((sum, tokens) => sum + tokens, RESERVED_TOKENS);
  const maxTokens = Math.max(MIN_TOOL_TOKENS, MAX_PROMPT_TOKENS - taken);
  const before = new Set(replan?.steps.map(({ tool }) => tool));
  const named = [...before, ...(repair ? namesIn(repair) : [])];
  return retrieveTools({ query, tools, maxTokens, named });
}

/** Everything in a repair that could be the name of a tool: findings and suggestions first, then the last answer. */
function namesIn({ diagnostics, previous }: NonNullable<DraftInput["repair"]>): string[] {
  const found = diagnostics.map(({ message, suggestion }) => `${suggestion ?? ""} ${message}`).join(" ");
  const words = `${found} ${previous}`.slice(0, MAX_TEXT).match(/[A-Za-z0-9._/-]+/g) ?? [];
  // A full stop or a colon behind a name is not part of it.
  return [...new Set(words.map((word) => word.replace(/[./]+$/, "")))];
}
