import type { ToolDescriptor } from "@planwright/plan";
import type { DraftInput } from "../draft/drafter.ts";
import { cutMiddle } from "./clean-text.ts";
import { draftMessages } from "./draft-messages.ts";
import {
  estimateTokens,
  MAX_PROMPT_TOKENS,
  MIN_TOOL_TOKENS,
  PREVIOUS_TOKENS,
  RESERVED_TOKENS,
} from "./prompt-budget.ts";
import { outputRules } from "./system-prompt.ts";
import { type Hit, type IndexedTool, type ShownTools, toolIndexOf } from "./tool-index.ts";

/** Why a tool was chosen. */
export type RetrievalReason =
  /** The complete catalogue fits. */
  | { type: "all" }
  /** The query or the caller names it. */
  | { type: "named" }
  /** It matches words of the query; `score` compares tools for one query only. */
  | { type: "matched"; score: number }
  /** The contract of a chosen tool requires it. */
  | { type: "contract"; of: string }
  /** It returns an id that a chosen tool requires. */
  | { type: "source"; of: string }
  /** The words of the query match no tool: it is part of a sample of the catalogue. */
  | { type: "sample" };

/** Input of {@link retrieveTools}. */
export interface RetrieveToolsInput {
  query: string;
  /** The catalogue. Its index is cached with the array, which must not change afterwards. */
  tools: readonly ToolDescriptor[];
  /** Maximum of estimated tokens of the chosen tools' lines in a prompt. */
  maxTokens: number;
  /** Maximum of chosen tools. Default: as many as `maxTokens` allows. */
  maxTools?: number | undefined;
  /**
   * Names of tools that come first, whatever the query is. Names that are not in the catalogue are ignored.
   */
  named?: readonly string[] | undefined;
}

/** Tools for a query. */
export interface RetrievedTools {
  /** The unchanged catalogue when all of it fits; otherwise the chosen tools, the best first. */
  tools: ToolDescriptor[];
  /** The reason for each tool, in the same order. */
  why: RetrievalReason[];
  /** Estimated tokens of their lines in a prompt. */
  tokens: number;
}

/** Number of first tools of each part of a query whose sources are added. */
const WITH_SOURCES = 4;
/**
 * Minimum share of the best score of a part. Tools below it match little but a verb and only cost tokens.
 * Measured with the cases in `test/thousand-tools`: prompts become a third shorter, and no right tool is lost
 * below three times this value.
 */
const LEAST_SHARE = 0.1;
/** Minimum of kept tools for each part, so that one rare word does not hide the meaning of the others. */
const LEAST_HITS = 15;
/** Sources can need sources: a comment needs a blog, which needs an author. */
const MAX_DEPTH = 3;

/**
 * Tools that a plan for the query may need: tools that it names; tools that a full-text search for each of
 * its parts finds in names, descriptions and parameters; tools that contracts require before these; and tools
 * that return required ids. The same input gives the same tools. A tool that does not fit the budget together
 * with all tools that its contract requires is left out, and others take its tokens.
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

/** Tools at equal distances, about as many as the budget allows. */
function sampleOf({ tools, tokens }: ShownTools, maxTokens: number): IndexedTool[] {
  const distance = Math.max(1, Math.ceil(tokens / Math.max(1, maxTokens)));
  return tools.filter(({ at }) => at % distance === 0);
}

/**
 * The rankings of the parts, and last the ranking of all parts together, which fills the remaining budget.
 */
function rankingsOf(query: string, index: ShownTools): Hit[][] {
  const parts = queryParts(query);
  const texts = parts.length > 1 ? [...parts, parts.join(" ")] : parts;
  return texts.map((text) => {
    const hits = index.search(text);
    const least = (hits[0]?.score ?? 0) * LEAST_SHARE;
    return hits.filter(({ score }, rank) => score >= least || rank < LEAST_HITS);
  });
}

/** The tools that have been chosen so far. */
class Choice {
  readonly #index: ShownTools;
  readonly #limits: { maxTokens: number; maxTools: number };
  readonly #chosen = new Map<IndexedTool, RetrievalReason>();
  #tokens = 0;

  constructor(index: ShownTools, limits: { maxTokens: number; maxTools: number }) {
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
   * Adds a tool together with all tools that its contract requires, or adds none, because no plan can use it
   * without them. Then, down to `depth` and as far as they fit, adds tools that return the ids that they
   * require.
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
   * The tool and all tools that it requires, directly or indirectly, without those that are chosen already.
   * Empty when they do not fit the remaining budget.
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
    // A tool whose requirements fit no prompt is shown alone; diagnostics can still name the rest.
    const alone = new Map([[tool, reason]]);
    const fitsOnlyAlone = !this.#fits(wanted, 0, 0) && this.#fits(alone, this.#tokens, this.#chosen.size);
    return fitsOnlyAlone ? alone : new Map();
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

const MAX_QUERY = 20_000;
const MAX_PARTS = 24;
/** Separates two requested actions. A point inside a number or an address does not. */
const SEPARATOR = /[;,\n:?!]|\.(?=\s|$)|\b(?:then|and|after that|afterwards|before|finally|next|plus)\b/iu;
const QUOTED =
  /"[^"]{0,2000}"|“[^”]{0,2000}”|«[^»]{0,2000}»|(?<![\p{L}\p{N}])['‘][^'’\n]{0,2000}['’](?![\p{L}\p{N}])|`[^`]{0,2000}`/gu;

/**
 * The parts of a query, one for each requested action, as far as punctuation and conjunctions show them.
 * Values in quotes are left out, because they request nothing, unless the query has nothing else. At most 24
 * parts.
 */
export function queryParts(query: string): string[] {
  const text = query.slice(0, MAX_QUERY);
  const unquoted = text.replace(QUOTED, " ");
  const parts = (/\p{L}/u.test(unquoted) ? unquoted : text)
    .split(SEPARATOR)
    .map((part) => part.trim())
    .filter((part) => part !== "");
  return [...new Set(parts)].slice(0, MAX_PARTS);
}

const MAX_TEXT = 60_000;

/**
 * The tools to show to a model: the complete catalogue when it fits, otherwise the tools that the request
 * needs. They get the tokens of `MAX_PROMPT_TOKENS` that the other messages of {@link draftMessages} leave,
 * and at least 1,500. A repair also shows the tools that the diagnostics and the last answer name, a replan
 * those of the failed plan.
 */
export function toolsForPrompt({
  query,
  context,
  tools,
  repair,
  replan,
}: Pick<DraftInput, "query" | "context" | "tools" | "repair" | "replan">): RetrievedTools {
  // The last answer may use tokens that the tools leave, so the tools are chosen with only a part of it.
  const shown = repair && { ...repair, previous: cutMiddle(repair.previous, PREVIOUS_TOKENS.max) };
  const around = draftMessages({ query, context, tools: [], repair: shown, replan }).map(({ content }) =>
    estimateTokens(content),
  );
  const ofOutputs = estimateTokens(outputRules(tools));
  const taken = around.reduce((sum, tokens) => sum + tokens, RESERVED_TOKENS + ofOutputs);
  const maxTokens = Math.max(MIN_TOOL_TOKENS, MAX_PROMPT_TOKENS - taken);
  const before = new Set(replan?.steps.map(({ tool }) => tool));
  const named = [...before, ...(repair ? namesIn(repair) : [])];
  return retrieveTools({ query, tools, maxTokens, named });
}

/**
 * All words in a repair that could be names of tools: those of diagnostics and suggestions first, then those
 * of the last answer.
 */
function namesIn({ diagnostics, previous }: NonNullable<DraftInput["repair"]>): string[] {
  const found = diagnostics.map(({ message, suggestion }) => `${suggestion ?? ""} ${message}`).join(" ");
  const words = `${found} ${previous}`.slice(0, MAX_TEXT).match(/[A-Za-z0-9._/-]+/g) ?? [];
  // A full stop or a colon after a name is not part of it.
  return [...new Set(words.map((word) => word.replace(/[./]+$/, "")))];
}
