import type { Diagnostic, JsonObject } from "@planwright/plan";
import type { DraftInput } from "../draft/drafter.ts";
import type { SentMessage } from "../draft/sent-message.ts";
import { cleanText, dataText } from "./clean-text.ts";
import { contextText } from "./context-text.ts";
import { cutMiddle } from "./cut-middle.ts";
import { describeTools } from "./describe-tools.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import { firstFitting } from "./first-fitting.ts";
import { outputRules } from "./output-rules.ts";
import { planLanguage } from "./plan-language.ts";
import {
  DIAGNOSTIC_TOKENS,
  MAX_PROMPT_TOKENS,
  MAX_REQUEST_TOKENS,
  MIN_TOOL_TOKENS,
  PREVIOUS_TOKENS,
  RESERVED_TOKENS,
  within,
} from "./prompt-budget.ts";
import { replanRules, replanText } from "./replan-prompt.ts";
import { planRules, systemPrompt } from "./system-prompt.ts";

const AVAILABLE_TOKENS = MAX_PROMPT_TOKENS - RESERVED_TOKENS;
/** Tokens of the tags around tools and request. */
const FRAME_TOKENS = 20;

/**
 * Messages that request a plan, with time and place when known; with `replan` also how the earlier plan
 * ended; with `repair` also the last answer and exactly its diagnostics. All tools are described: {@link
 * toolsForPrompt} chooses as many as fit. The other parts stay within `MAX_PROMPT_TOKENS` and say where
 * something is left out: the middle of the last answer, diagnostics after the first ones, outputs and
 * finished steps of a replan. Pure.
 */
export function draftMessages({
  query,
  context,
  tools,
  repair,
  replan,
}: Pick<DraftInput, "query" | "context" | "tools" | "repair" | "replan">): SentMessage[] {
  const rules = rulesFor({ query, tools, repair, replan });
  const request = dataText(cutMiddle(query, MAX_REQUEST_TOKENS, dataText));
  const timeAndPlace = contextText(replan?.note ? `${query}\n${replan.note}` : query, context);
  const described = describeTools(tools);
  const least = MIN_TOOL_TOKENS + (repair ? PREVIOUS_TOKENS.min + DIAGNOSTIC_TOKENS.min : 0);
  const fixedTokens =
    estimateTokens(rules) + estimateTokens(timeAndPlace) + estimateTokens(request) + FRAME_TOKENS;
  const run = replan ? [replanText(replan, AVAILABLE_TOKENS - fixedTokens - least)] : [];
  const data = [
    `<tools>\n${described}\n</tools>`,
    `${timeAndPlace}<request>\n${request}\n</request>`,
    ...run,
  ];
  const messages: SentMessage[] = [
    { role: "system", content: rules },
    { role: "user", content: data.join("\n") },
  ];
  if (!repair) return messages;
  const left = AVAILABLE_TOKENS - messages.reduce((sum, { content }) => sum + estimateTokens(content), 0);
  const exceptTools = left + estimateTokens(described) - MIN_TOOL_TOKENS;
  const correction = repairText(
    repair.diagnostics,
    within(DIAGNOSTIC_TOKENS, exceptTools - PREVIOUS_TOKENS.min),
  );
  const previousTokens = Math.max(PREVIOUS_TOKENS.min, left - estimateTokens(correction));
  return [
    ...messages,
    { role: "assistant", content: cutMiddle(repair.previous, previousTokens) },
    { role: "user", content: correction },
  ];
}

function rulesFor(input: Pick<DraftInput, "query" | "tools" | "repair" | "replan">): string {
  const language = planLanguage(input);
  const replan = input.replan ? replanRules(planRules(language).length + 1) : "";
  const parts = [systemPrompt(language), replan, outputRules(input.tools)];
  return parts.filter((part) => part !== "").join("\n\n");
}

const MAX_DIAGNOSTICS = 30;

/** Characters that are shown of a diagnostic. The first size with which all diagnostics fit is used. */
const SIZES = [
  { message: 500, detail: 200 },
  { message: 200, detail: 200 },
  { message: 80, detail: 80 },
] as const;
type Size = (typeof SIZES)[number];

/**
 * The diagnostics of the last answer, one JSON object per line, in at most `maxTokens`: step, path, message
 * and nearest valid choices of each. When they do not all fit, messages are shortened first; then the last
 * diagnostics are left out and counted. Pure.
 * @param maxTokens - at least 700, in which one diagnostic always fits
 */
function repairText(diagnostics: readonly Diagnostic[], maxTokens: number): string {
  return firstFitting(textsOf(diagnostics), maxTokens);
}

/** The longest text first. */
function* textsOf(diagnostics: readonly Diagnostic[]): Generator<string> {
  const shown = diagnostics.slice(0, MAX_DIAGNOSTICS);
  const around = aroundLines(diagnostics.some(({ severity }) => severity === "error"));
  for (const size of SIZES) yield around(linesOf(shown, size, diagnostics.length));
  for (let count = shown.length - 1; count > 0; count -= 1)
    yield around(linesOf(shown.slice(0, count), SIZES[2], diagnostics.length));
}

/** With only warnings the plan could run. */
const aroundLines = (isError: boolean) => (lines: string[]) =>
  `The plan ${isError ? "cannot run" : "can run, but may fail half-way"}. Findings:\n${lines.join("\n")}\nAnswer with the whole corrected plan as one JSON object and nothing else.`;

function linesOf(shown: readonly Diagnostic[], size: Size, total: number): string[] {
  const lines = shown.map((each) => dataText(shownDiagnostic(each, size)));
  return total > shown.length ? [...lines, dataText({ findings: `${total - shown.length} more` })] : lines;
}

function shownDiagnostic({ code, stepId, path, message, suggestion }: Diagnostic, size: Size): JsonObject {
  return {
    code,
    ...(stepId === undefined ? {} : { stepId: cleanText(stepId, 64) }),
    ...(path === undefined ? {} : { path: cleanText(path, size.detail) }),
    message: cleanText(message, size.message),
    ...(suggestion === undefined ? {} : { suggestion: cleanText(suggestion, size.detail) }),
  };
}
