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

/** A tool that a text may mean; a higher score is a better match. */
export interface Hit {
  readonly at: number;
  readonly score: number;
}

/** A catalogue that can be searched. */
export interface ToolIndex {
  readonly tools: readonly IndexedTool[];
  /** Tokens of all lines of the catalogue together. */
  readonly tokens: number;
  /** The tool with exactly this name. */
  get(name: string): IndexedTool | undefined;
  /** Tools that a text may mean, the best first; equal ones in the order of the catalogue. */
  search(text: string): Hit[];
  /** Tools whose names are in a text as identifiers of several words, in the order of the catalogue. */
  namedIn(text: string): IndexedTool[];
  readonly needs: ToolNeeds;
}

/** The length of descriptions in the prompt. More words of a description must not raise a tool's score. */
const MAX_DESCRIPTION = 400;
const FIELDS = ["name", "description", "parameters", "server"];
const BOOST = { name: 3, description: 1.5, parameters: 0.5, server: 1 };
/** Verbs that represent their group in the names of tools. */
const PLAIN_VERBS =
  "create get list search update delete send order cancel close move copy summarize calculate schedule start stop".split(
    " ",
  );
/** Weight of a synonym of a word in the query. */
const SYNONYM_WEIGHT = 0.4;

const indexes = new WeakMap<readonly ToolDescriptor[], ToolIndex>();

/**
 * The index of a catalogue. It is built at the first call and cached by the array, which must not change
 * afterwards.
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
      const given = [...new Set(searchWords(text))];
      const synonyms = synonymsOf(text).filter((word) => !given.includes(word));
      const results = search.search([...given, ...synonyms].join(" "), {
        tokenize: (query) => query.split(" "),
        boostTerm: (term) => (synonyms.includes(term) ? SYNONYM_WEIGHT : 1),
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

/** Verbs of tools' names with the same meaning as verbs of the text: "remove" -> delete. */
function synonymsOf(text: string): string[] {
  const words = (text.toLowerCase().match(/\p{L}+/gu) ?? []).slice(0, 200);
  // "Book" and similar words are verbs only at the start of a request.
  const verbs = words.filter((word, index) => index === 0 || !isWeakVerb(word));
  const synonyms = PLAIN_VERBS.filter((verb) =>
    verbs.some((word) => word !== verb && verbFit(word, verb) >= 0.8),
  );
  return synonyms.flatMap(searchWords);
}

/**
 * A short name that several servers offer names all of these tools. One plain word, such as "search", names
 * none.
 */
function namedIn(text: string, tools: readonly IndexedTool[]): IndexedTool[] {
  const identifiers = (text.match(/[\p{L}\p{N}._/-]{3,257}/gu) ?? []).map((word) =>
    word.replace(/[._/-]+$/, ""),
  );
  const wanted = new Set(
    identifiers.filter((word) => splitName(word).length > 1).map((word) => word.toLowerCase()),
  );
  if (wanted.size === 0) return [];
  return tools.filter(({ tool: { name } }) => {
    const lower = name.toLowerCase();
    return wanted.has(lower) || wanted.has(lower.slice(lower.lastIndexOf("/") + 1));
  });
}
