import type { ToolDescriptor } from "@planwright/plan";
import { queryParts } from "../retrieval/query-parts.ts";
import { type ToolIndex, toolIndexOf } from "../retrieval/tool-index.ts";
import { offerTools } from "./offered-tools.ts";

/** Longer requests rarely need only one or two direct calls. */
const MAX_QUERY = 240;
/** Each part is one call. */
const MAX_PARTS = 2;
/** Tools whose score is at least this share of the best score may be meant. */
const NEAR = 0.5;
/** With more candidates than this, retrieval cannot decide which tool is meant. */
const MAX_CANDIDATES = 6;
/**
 * Words that link one call to another, ask for many calls, set a condition, or ask for only a part of a
 * result.
 */
const LINKED =
  /\b(?:then|after|afterwards|before|finally|next|again|it|its|that|those|this|these|they|them|their|him|his|her|hers|there|same|result|results|each|every|everyone|everybody|everything|all|any|anyone|both|per|whose|if|unless|until|while|(?<!^\s*)when|whenever|whether|otherwise|else|except|depending|provided|should|only|just|nothing|merely|solely)\b/i;

/**
 * The tools to offer for one direct tool-calling request instead of a plan; null when the request needs a
 * plan. Pure and strict: a request that is not clearly one or two independent calls is planned. A request
 * takes the direct path when
 * 1. it is short, has at most two parts, and no word that links one call to another;
 * 2. the search finds tools for each part, and at most six near tools in all;
 * 3. the nearest tool of each part needs no output of another tool: no id that tools of the catalogue return,
 *    and no step that its contract requires;
 * 4. all near tools can be offered unchanged, within a budget of tokens: see {@link offerTools}.
 */
export function directTools(query: string, tools: readonly ToolDescriptor[]): ToolDescriptor[] | null {
  const parts = queryParts(query);
  if (query.length > MAX_QUERY || parts.length === 0 || parts.length > MAX_PARTS || LINKED.test(query))
    return null;
  const index = toolIndexOf(tools);
  const chosen = new Set<number>();
  for (const part of parts) {
    const near = nearIn(part, index);
    const nearest = near[0] === undefined ? undefined : index.tools[near[0]];
    if (!nearest) return null;
    const { needs } = index;
    if (needs.requiredBy(nearest).length > 0 || needs.sourcesFor(nearest).length > 0) return null;
    for (const at of near) chosen.add(at);
  }
  if (chosen.size > MAX_CANDIDATES) return null;
  const near = [...chosen].flatMap((at) => index.tools[at]?.tool ?? []);
  return offerTools(near) ? near : null;
}

/** Indexes of the tools that a part may mean, the nearest first. */
function nearIn(part: string, index: ToolIndex): number[] {
  const hits = index.search(part);
  const least = (hits[0]?.score ?? 0) * NEAR;
  return hits.filter(({ score }) => score >= least).map(({ at }) => at);
}
