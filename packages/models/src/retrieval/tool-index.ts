import type { ToolDescriptor } from "@planwright/plan";
import MiniSearch from "minisearch";
import { cleanText } from "../prompts/clean-text.ts";
import { toolLine } from "../prompts/describe-tools.ts";
import { estimateTokens } from "../prompts/estimate-tokens.ts";
import { toolWordsOf } from "../words/tool-words.ts";
import { isWeakVerb, verbFit } from "../words/verbs.ts";
import { splitName } from "../words/word-forms.ts";
import type { IndexedTool } from "./indexed-tool.ts";
import { searchWords } from "./search-words.ts";
import { createToolNeeds, type ToolNeeds } from "./tool-needs.ts";

/** A tool that a text may mean; higher scores are nearer. */
export interface Hit {
  readonly at: number;
  readonly score: number;
}

/** A catalogue that can be searched. */
export interface ToolIndex {
  readonly tools: readonly IndexedTool[];
  /** What all lines of the catalogue cost together. */
  readonly tokens: number;
  /** The tool with exactly this name. */
  get(name: string): IndexedTool | undefined;
  /** Tools that a text may mean, the nearest first, then by their place in the catalogue. */
  search(text: string): Hit[];
  /** Tools whose names a text holds as identifiers of more than one word, in the order of the catalogue. */
  namedIn(text: string): IndexedTool[];
  readonly needs: ToolNeeds;
}

/** As much of a description as the prompt shows; more words of it must not make a tool look nearer. */
const MAX_DESCRIPTION = 400;
const FIELDS = ["name", "description", "parameters", "server"];
const BOOST = { name: 3, description: 1.5, parameters: 0.5, server: 1 };
/** Verbs that stand for all of their group in the names of tools. */
const PLAIN_VERBS =
  "create get list search update delete send order cancel close move copy summarize calculate schedule start stop".split(
    " ",
  );
/** Weight of a word that is only a synonym of a word in the query. */
const SYNONYM_WEIGHT = 0.4;

const indexes = new WeakMap<readonly ToolDescriptor[], ToolIndex>();

/**
 * The index of a catalogue: built at the first call, cached by the array, which must not change afterwards.
 */
export function toolIndexOf(tools: readonly ToolDescriptor[]): ToolIndex {
  let index = indexes.get(tools);
  if (!index) {
    index = createToolIndex(tools);
    indexes.set(tools, index);
  }
  return index;
}

function createToolIndex(catalogue: readonly ToolDescriptor[]): ToolIndex {
  const tools = catalogue.map((tool, at) => ({
    at,
    tool,
    words: toolWordsOf(tool),
    tokens: estimateTokens(`${toolLine(tool)}\n`),
  }));
  const search = new MiniSearch<ReturnType<typeof documentOf>>({
    idField: "at",
    fields: FIELDS,
    tokenize: searchWords,
    processTerm: (term) => term,
    searchOptions: { boost: BOOST, prefix: (term) => term.length >= 4, weights: { prefix: 0.3, fuzzy: 0.2 } },
  });
  search.addAll(tools.map(documentOf));
  const byName = new Map(tools.map((tool) => [tool.tool.name, tool]));
  return {
    tools,
    get: (name) => byName.get(name),
    tokens: tools.reduce((sum, { tokens }) => sum + tokens, 0),
    search: (text) => {
      const said = [...new Set(searchWords(text))];
      const meant = synonymsOf(text).filter((word) => !said.includes(word));
      const results = search.search([...said, ...meant].join(" "), {
        tokenize: (query) => query.split(" "),
        boostTerm: (term) => (meant.includes(term) ? SYNONYM_WEIGHT : 1),
      });
      return results
        .map(({ id, score }) => ({ at: Number(id), score }))
        .toSorted((one, other) => other.score - one.score || one.at - other.at);
    },
    namedIn: (text) => namedIn(text, tools),
    needs: createToolNeeds(tools),
  };
}

function documentOf({ at, tool, words }: IndexedTool) {
  const shortName = tool.name.slice(tool.name.lastIndexOf("/") + 1);
  return {
    at,
    name: `${shortName} ${cleanText(tool.title ?? "", MAX_DESCRIPTION)}`,
    description: cleanText(tool.description ?? "", MAX_DESCRIPTION),
    parameters: words.parameters.map(({ name, description }) => `${name} ${description ?? ""}`).join(" "),
    server: tool.server ?? tool.name.slice(0, tool.name.lastIndexOf("/") + 1),
  };
}

/** Verbs in which tools are named where people say another of the same meaning: "remove" -> delete. */
function synonymsOf(text: string): string[] {
  const words = (text.toLowerCase().match(/\p{L}+/gu) ?? []).slice(0, 200);
  // "Book" and similar words are verbs only at the beginning of a request.
  const said = words.filter((word, index) => index === 0 || !isWeakVerb(word));
  const meant = PLAIN_VERBS.filter((verb) =>
    said.some((word) => word !== verb && verbFit(word, verb) >= 0.8),
  );
  return meant.flatMap(searchWords);
}

/**
 * A short name that several servers offer names all of them. One plain word, such as "search", names nothing.
 */
function namedIn(text: string, tools: readonly IndexedTool[]): IndexedTool[] {
  const said = (text.match(/[\p{L}\p{N}._/-]{3,257}/gu) ?? []).map((word) => word.replace(/[._/-]+$/, ""));
  const wanted = new Set(said.filter((word) => splitName(word).length > 1).map((word) => word.toLowerCase()));
  if (wanted.size === 0) return [];
  return tools.filter(({ tool: { name } }) => {
    const lower = name.toLowerCase();
    return wanted.has(lower) || wanted.has(lower.slice(lower.lastIndexOf("/") + 1));
  });
}
