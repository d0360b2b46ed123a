import type { ToolDescriptor } from "@planwright/plan";
import type { OfferedTool } from "../draft/asked.ts";
import { cleanText } from "../prompts/clean-text.ts";
import { estimateTokens } from "../prompts/estimate-tokens.ts";
import { offeredSchema } from "./offered-schema.ts";

const MAX_NAME = 64;
const MAX_DESCRIPTION = 400;
/**
 * Maximum of estimated tokens of all offers in one request. A request that needs more is not one or two
 * simple calls.
 */
export const MAX_OFFER_TOKENS = 1_500;

/**
 * Tools as a provider receives them, by names that providers allow; each name identifies one tool. Untrusted
 * text is cleaned and cut as in prompts. Null when one of them cannot be offered unchanged ({@link
 * offeredSchema}), or when together they cost more than 1,500 tokens: without the right tool a model would
 * call a wrong one. Pure.
 */
export function offerTools(
  tools: readonly ToolDescriptor[],
): Map<string, { tool: ToolDescriptor; offer: OfferedTool }> | null {
  const offered = new Map<string, { tool: ToolDescriptor; offer: OfferedTool }>();
  let tokens = 0;
  for (const tool of tools) {
    const plain = plainName(tool.name);
    let name = plain;
    for (let number = 2; offered.has(name); number += 1) name = `${plain}_${number}`;
    const description = cleanText(describe(tool), MAX_DESCRIPTION);
    const schema = offeredSchema(tool.inputSchema ?? {});
    if (!schema) return null;
    const offer = { name, description, schema };
    tokens += estimateTokens(JSON.stringify(offer));
    if (tokens > MAX_OFFER_TOKENS) return null;
    offered.set(name, { tool, offer });
  }
  return offered;
}

/** For Google, names begin with a letter or `_`. */
function plainName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_-]/gu, "_").slice(0, MAX_NAME - 4);
  return /^[A-Za-z_]/.test(plain) ? plain : `tool_${plain}`.slice(0, MAX_NAME - 4);
}

/** The description begins with the real name when the offered name has lost letters. */
function describe({ name, description, title }: ToolDescriptor): string {
  const text = description ?? title ?? "";
  return /\P{ASCII}/u.test(name) ? `${name}: ${text}` : text;
}
