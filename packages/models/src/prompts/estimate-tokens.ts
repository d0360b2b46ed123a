/** Characters of one token in prompts, which are English and JSON; rather too few than too many. */
const ASCII_PER_TOKEN = 3.3;

/**
 * The estimated number of tokens of a text, rather too many than too few. Every model has a different
 * vocabulary; for tool descriptions in JSON and English prose the estimate is at or above the count of
 * OpenAI's `o200k_base`. A character beyond ASCII counts as one token.
 */
export function estimateTokens(text: string): number {
  let ascii = 0;
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) < 128) ascii += 1;
  return Math.ceil(ascii / ASCII_PER_TOKEN) + (text.length - ascii);
}
