import { isJsonObject, type JsonValue } from "@planwright/plan";
import type { ModelCaller } from "../calls/model-ask.ts";
import type { DraftInput, DraftResult } from "../draft/drafter.ts";
import { directMessages } from "./direct-messages.ts";
import { type DirectCall, isWholeAnswer } from "./direct-plan.ts";
import { offerTools } from "./offered-tools.ts";

/**
 * One plain tool-calling request. Returns the calls as the text of a plan when they are the whole answer.
 * Null when the model made none, left something out, added what the user did not say, or when a tool cannot
 * be offered: the request then has to be planned.
 * @throws {DraftError} like `draft`; what the meter throws
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
    const args = parsed(text);
    return found && isJsonObject(args) ? { tool: found.tool, arguments: args } : null;
  });
  const whole = calls.filter((call) => call !== null);
  if (whole.length < calls.length || !isWholeAnswer(query, whole, context?.facts)) return null;
  const steps = whole.map(({ tool, arguments: args }) => ({ tool: tool.name, arguments: args }));
  return { ...result, text: JSON.stringify({ steps }) };
}

function parsed(text: string): JsonValue | undefined {
  try {
    const value: JsonValue = JSON.parse(text.trim() === "" ? "{}" : text);
    return value;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
