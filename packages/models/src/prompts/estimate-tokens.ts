/** Characters of one token in what prompts hold, which is English and JSON; rather too few than too many. */
const ASCII_PER_TOKEN = 3.3;

/**
 * About how many tokens a text is, rather too many than too few. Every model counts by its own vocabulary;
 * for tool descriptions in JSON and English prose this is at or above the count of OpenAI's `o200k_base`. A
 * character beyond ASCII counts as a token.
 */
export function estimateTokens(text: string): number {
  let ascii = 0;
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) < 128) ascii += 1;
  return Math.ceil(ascii / ASCII_PER_TOKEN) + (text.length - ascii);
}
