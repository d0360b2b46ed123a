import { isJsonObject, type JsonValue, parseExactJson, stringifyExactJson } from "@planwright/plan";
import type { ModelCaller } from "../calls/model-ask.ts";
import type { DraftInput, DraftResult } from "../draft/drafter.ts";
import { directMessages } from "./direct-messages.ts";
import { type DirectCall, isCompleteAnswer } from "./direct-plan.ts";
import { offerTools } from "./offered-tools.ts";

/**
 * One direct tool-calling request. Returns the calls as the text of a plan when they are the complete answer.
 * Returns null when the request has to be planned: the model made no call, left something out, added values
 * that the user did not give, or a tool cannot be offered.
 * @throws {DraftError} like `draft`; the meter's errors
 */
export async function draftDirectly(
  caller: ModelCaller,
  {
    query,
    context,
    tools,
    meter,
    signal,
  }: Pick<DraftInput, "query" | "context" | "tools" | "meter" | "signal">,
): Promise<DraftResult | null> {
  const offered = offerTools(tools);
  if (!offered) return null;
  const offers = [...offered.values()].map(({ offer }) => offer);
  const result = await caller.ask({ messages: directMessages(query, context), tools: offers, meter, signal });
  const calls = (result.toolCalls ?? []).map(({ name, arguments: text }): DirectCall | null => {
    const found = offered.get(name);
    const args = parseArguments(text);
    return found && isJsonObject(args) ? { tool: found.tool, arguments: args } : null;
  });
  const usable = calls.filter((call) => call !== null);
  if (usable.length < calls.length || !isCompleteAnswer(query, usable, context?.facts)) return null;
  const steps = usable.map(({ tool, arguments: args }) => ({ tool: tool.name, arguments: args }));
  return { ...result, text: stringifyExactJson({ steps }) };
}

function parseArguments(text: string): JsonValue | undefined {
  try {
    return parseExactJson(text.trim() === "" ? "{}" : text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
