import type { ToolDescriptor } from "@planwright/plan";
import type { IndexedTool } from "./indexed-tool.ts";
import { queryParts } from "./query-parts.ts";
import { type Hit, type ToolIndex, toolIndexOf } from "./tool-index.ts";

/** Why a tool was chosen. */
export type RetrievalReason =
  /** The whole catalogue fits. */
  | { type: "all" }
  /** The query, or the caller, names it. */
  | { type: "named" }
  /** The query means it by its words; `score` compares tools for one query only. */
  | { type: "matched"; score: number }
  /** The contract of a chosen tool requires it. */
  | { type: "contract"; of: string }
  /** It gives an id that a chosen tool requires. */
  | { type: "source"; of: string }
  /** The words of the query fit no tool: one of a sample of the catalogue. */
  | { type: "sample" };

/** What tools are chosen by. */
export interface RetrieveToolsInput {
  query: string;
  /** The catalogue; its index is kept with the array, which must not change afterwards. */
  tools: readonly ToolDescriptor[];
  /** What the lines of the chosen tools may cost in a prompt, in estimated tokens. */
  maxTokens: number;
  /** Most tools that are chosen. Default: as many as `maxTokens` allows. */
  maxTools?: number | undefined;
  /**
   * Names of tools that come first, whatever the query says; names that the catalogue does not hold mean
   * nothing.
   */
  named?: readonly string[] | undefined;
}

/** Tools for a query. */
export interface RetrievedTools {
  /** The catalogue unchanged when all of it fits; else the chosen ones, the most telling first. */
  tools: ToolDescriptor[];
  /** Why each was chosen, in the same order. */
  why: RetrievalReason[];
  /** What their lines in a prompt cost, in estimated tokens. */
  tokens: number;
}

/** Of each part of a query, the tools whose sources come along. */
const WITH_SOURCES = 4;
/**
 * Tools that score lower than the best tool of a part by more than this share little but a verb with it, and
 * only cost tokens. Measured with the cases in `test/thousand-tools`: prompts become a third shorter, and no
 * right tool is lost below three times this value.
 */
const LEAST_SHARE = 0.1;
/**
 * At least this many tools of a part are kept: one rare word by chance must not hide what the others mean.
 */
const LEAST_HITS = 15;
/** Sources of sources: a comment needs a blog, which needs an author. */
const MAX_DEPTH = 3;

/**
 * Tools that a plan for the query may need: those that it names or means, by a full-text search over
 * names, descriptions and parameters for each part of it; what their contracts require before them; and what
 * gives the ids that they require. The same input gives the same tools. A tool that does not fit the rest of
 * the budget with all that its contract requires is left out for those that do.
 */
export function retrieveTools({
  query,
  tools,
  maxTokens,
  maxTools = tools.length,
  named = [],
}: RetrieveToolsInput): RetrievedTools {
  const index = toolIndexOf(tools);
  if (index.tokens <= maxTokens && tools.length <= maxTools) {
    return { tools: [...tools], why: tools.map(() => ({ type: "all" })), tokens: index.tokens };
  }
  const choice = new Choice(index, { maxTokens, maxTools });
  for (const name of named) {
    const tool = index.get(name);
    if (tool) choice.add(tool, { type: "named" }, 0);
  }
  for (const tool of index.namedIn(query)) choice.add(tool, { type: "named" }, MAX_DEPTH);
  const rankings = rankingsOf(query, index);
  const longest = Math.max(0, ...rankings.map((hits) => hits.length));
  // The parts of the query take turns, so that a long part leaves tokens for a short one.
  for (let rank = 0; rank < longest && !choice.isFull; rank += 1) {
    for (const hits of rankings) {
      const hit = hits[rank];
      const tool = hit && index.tools[hit.at];
      if (tool) choice.add(tool, { type: "matched", score: hit.score }, rank < WITH_SOURCES ? MAX_DEPTH : 0);
    }
  }
  if (choice.isEmpty) for (const tool of sampleOf(index, maxTokens)) choice.add(tool, { type: "sample" }, 0);
  return choice.result();
}

/** Tools at equal distances, about as many as the budget holds. */
function sampleOf({ tools, tokens }: ToolIndex, maxTokens: number): IndexedTool[] {
  const distance = Math.max(1, Math.ceil(tokens / Math.max(1, maxTokens)));
  return tools.filter(({ at }) => at % distance === 0);
}

/** The parts first: the words of the whole query together only fill up. */
function rankingsOf(query: string, index: ToolIndex): Hit[][] {
  const parts = queryParts(query);
  const texts = parts.length > 1 ? [...parts, parts.join(" ")] : parts;
  return texts.map((text) => {
    const hits = index.search(text);
    const least = (hits[0]?.score ?? 0) * LEAST_SHARE;
    return hits.filter(({ score }, rank) => score >= least || rank < LEAST_HITS);
  });
}

/** What has been chosen so far. */
class Choice {
  readonly #index: ToolIndex;
  readonly #limits: { maxTokens: number; maxTools: number };
  readonly #chosen = new Map<IndexedTool, RetrievalReason>();
  #tokens = 0;

  constructor(index: ToolIndex, limits: { maxTokens: number; maxTools: number }) {
    this.#index = index;
    this.#limits = limits;
  }

  get isEmpty(): boolean {
    return this.#chosen.size === 0;
  }

  get isFull(): boolean {
    return this.#chosen.size >= this.#limits.maxTools || this.#tokens >= this.#limits.maxTokens;
  }

  /**
   * Adds a tool together with all that its contract requires, or not at all, for no plan can use it alone;
   * then, down to `depth` and as far as it fits, what gives the ids that they require.
   */
  add(tool: IndexedTool, reason: RetrievalReason, depth: number): void {
    if (this.#chosen.has(tool) || this.isFull) return;
    const wanted = this.#withRequired(tool, reason);
    for (const [each, why] of wanted) {
      this.#chosen.set(each, why);
      this.#tokens += each.tokens;
    }
    if (depth === 0) return;
    for (const each of wanted.keys()) {
      for (const source of this.#index.needs.sourcesFor(each))
        this.add(source, { type: "source", of: each.tool.name }, depth - 1);
    }
  }

  /**
   * What is not chosen yet of a tool and all that it requires, however far back; empty when it does not fit
   * what is left.
   */
  #withRequired(tool: IndexedTool, reason: RetrievalReason): Map<IndexedTool, RetrievalReason> {
    const wanted = new Map([[tool, reason]]);
    for (const each of wanted.keys()) {
      for (const before of this.#index.needs.requiredBy(each)) {
        if (!this.#chosen.has(before) && !wanted.has(before))
          wanted.set(before, { type: "contract", of: each.tool.name });
      }
    }
    if (this.#fits(wanted, this.#tokens, this.#chosen.size)) return wanted;
    // A tool that fits no prompt with all it requires is shown alone; diagnostics can still name the rest.
    const alone = new Map([[tool, reason]]);
    const isHopeless = !this.#fits(wanted, 0, 0) && this.#fits(alone, this.#tokens, this.#chosen.size);
    return isHopeless ? alone : new Map();
  }

  #fits(tools: ReadonlyMap<IndexedTool, unknown>, tokens: number, size: number): boolean {
    const cost = [...tools.keys()].reduce((sum, each) => sum + each.tokens, tokens);
    return cost <= this.#limits.maxTokens && size + tools.size <= this.#limits.maxTools;
  }

  result(): RetrievedTools {
    return {
      tools: [...this.#chosen.keys()].map(({ tool }) => tool),
      why: [...this.#chosen.values()],
      tokens: this.#tokens,
    };
  }
}
