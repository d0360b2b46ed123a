import type { ToolDescriptor } from "@planwright/plan";
import { queryParts } from "../retrieval/query-parts.ts";
import { type ToolIndex, toolIndexOf } from "../retrieval/tool-index.ts";
import { offerTools } from "./offered-tools.ts";

/** Longer requests rarely ask for one or two plain calls. */
const MAX_QUERY = 240;
/** One call each. */
const MAX_PARTS = 2;
/** Tools that come as near as this to the nearest one may be the one that is meant. */
const NEAR = 0.5;
/** More tools than this mean that retrieval does not know. */
const MAX_CANDIDATES = 6;
/** Words by which one call takes up another, by which it is made for many things or under a condition, or by which its result is not wanted whole. */
const LINKED =
  /\b(?:then|after|afterwards|before|finally|next|again|it|its|that|those|this|these|they|them|their|him|his|her|hers|there|same|result|results|each|every|everyone|everybody|everything|all|any|anyone|both|per|whose|if|unless|until|while|(?<!^\s*)when|whenever|whether|otherwise|else|except|depending|provided|should|only|just|nothing|merely|solely)\b/i;

/**
 * The tools to offer for one plain tool-calling request instead of a plan, or null when the request needs a plan. A pure rule, and a strict one: what is not
 * plainly one or two independent calls is planned. A request takes the direct path when
 * 1. it is short, has at most two parts, and no word that links one call to another;
 * 2. for each part the search finds tools, and in all at most six that are near;
 * 3. the nearest tool of each part needs nothing that another tool gives: no id that tools of the catalogue make or find, nothing that its contract demands;
 * 4. all of them can be offered as they are, within a budget of tokens: see {@link offerTools}.
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

/** Places of the tools that a part may mean, the nearest first. */
function nearIn(part: string, index: ToolIndex): number[] {
  const hits = index.search(part);
  const least = (hits[0]?.score ?? 0) * NEAR;
  return hits.filter(({ score }) => score >= least).map(({ at }) => at);
}
