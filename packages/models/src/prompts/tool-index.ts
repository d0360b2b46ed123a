import { findRelatedTool, type ToolDescriptor, toolContract } from "@planwright/plan";
import MiniSearch from "minisearch";
import { linkedNoun } from "../words/parameter.ts";
import { type ToolWords, toolWordsOf } from "../words/tool-words.ts";
import { isReadingVerb, isWeakVerb, splitName, stem, verbFit } from "../words/word-forms.ts";
import { cleanText } from "./clean-text.ts";
import { toolLine } from "./describe-tools.ts";
import { estimateTokens } from "./prompt-budget.ts";

/** A tool that a text may mean; a higher score is a better match. */
export interface Hit {
  readonly at: number;
  readonly score: number;
}

/** A catalogue that can be searched. */
export interface ShownTools {
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

const indexes = new WeakMap<readonly ToolDescriptor[], ShownTools>();

/**
 * The index of a catalogue. It is built at the first call and cached by the array, which must not change
 * afterwards.
 */
export function toolIndexOf(tools: readonly ToolDescriptor[]): ShownTools {
  let index = indexes.get(tools);
  if (!index) {
    index = createToolIndex(tools);
    indexes.set(tools, index);
  }
  return index;
}

function createToolIndex(catalogue: readonly ToolDescriptor[]): ShownTools {
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

/** Maximum of sources for one value: one tool that creates the thing and two that find it. */
const MAX_SOURCES = 3;

/** Requirements between the tools of a catalogue. */
interface ToolNeeds {
  /** Tools that must have run before it, by its contract. */
  requiredBy(tool: IndexedTool): readonly IndexedTool[];
  /**
   * Tools that return an id that it requires, such as `createAuthor` for `authorId`. Tools that create the
   * thing come before tools that find it, those of the same server first; at most 3 for each parameter.
   */
  sourcesFor(tool: IndexedTool): readonly IndexedTool[];
}

/** Reads from contracts, schemas and names what tools return and require. */
function createToolNeeds(tools: readonly IndexedTool[]): ToolNeeds {
  const byDescriptor = new Map(tools.map((each) => [each.tool, each]));
  const catalogue = tools.map(({ tool }) => tool);
  const sourcesOf = sourcesByThing(tools);
  return {
    requiredBy: ({ tool }) =>
      toolContract(tool).contract.dependsOn.flatMap(({ tool: name }) => {
        const found = findRelatedTool(catalogue, tool, name);
        const indexed = found && byDescriptor.get(found);
        return indexed ? [indexed] : [];
      }),
    sourcesFor: (tool) =>
      requiredThings(tool.words).flatMap((thing) => {
        const serverRank = (source: IndexedTool) => (source.tool.server === tool.tool.server ? 0 : 1);
        const sources = (sourcesOf.get(thing) ?? []).filter(
          (source) => source !== tool && !needs(source.words, thing),
        );
        return sources
          .toSorted(
            (one, other) =>
              serverRank(one) - serverRank(other) || order(one) - order(other) || one.at - other.at,
          )
          .slice(0, MAX_SOURCES);
      }),
  };
}

/** The kinds of things whose ids it requires: "author" for `authorId`. */
const requiredThings = (words: ToolWords): string[] => [
  ...new Set(
    words.parameters.flatMap((parameter) => {
      const thing = parameter.required ? linkedNoun(parameter) : null;
      return thing === null ? [] : [thing];
    }),
  ),
];

const needs = (words: ToolWords, thing: string) => requiredThings(words).includes(thing);

/** Tools that create a thing first, then tools that search or list it, then tools that read it. */
const order = ({ words }: IndexedTool) => (words.isMaking ? 0 : words.isListing ? 1 : 2);

/** Tools by the kinds of things whose ids they return. */
function sourcesByThing(tools: readonly IndexedTool[]): Map<string, IndexedTool[]> {
  const sources = new Map<string, IndexedTool[]>();
  for (const tool of tools) {
    for (const thing of returnedThings(tool)) sources.set(thing, [...(sources.get(thing) ?? []), tool]);
  }
  return sources;
}

function returnedThings({ tool, words }: IndexedTool): Set<string> {
  const things = new Set<string>();
  const fields = [...words.outputs, ...(words.list?.fields ?? [])].map((field) => splitName(field).map(stem));
  for (const field of fields) {
    const ending = field.at(-1);
    if (ending === undefined || !ID_ENDINGS.has(ending)) continue;
    const noun = field.at(-2) ?? words.thing;
    if (noun !== null && noun !== undefined) things.add(noun);
  }
  // A tool without an output schema that creates or reads a thing probably returns the thing's id.
  const mayReturnId = words.isMaking || isReadingVerb(words.verbs[0] ?? "");
  if (!tool.outputSchema && mayReturnId && words.thing !== null) things.add(words.thing);
  return things;
}

const ID_ENDINGS = new Set(["id", "uuid", "key", "slug", "number"]);

/** One tool of a catalogue, analysed once for all queries. */
export interface IndexedTool {
  /** Its index in the catalogue. */
  readonly at: number;
  readonly tool: ToolDescriptor;
  readonly words: ToolWords;
  /** Tokens of its line in a prompt, with the end of the line. */
  readonly tokens: number;
}

/** English words that do not distinguish tools. */
const STOP_WORDS = new Set(
  (
    "a an the this that these those it its them they he she him her his their my our your me us we you i " +
    "and or but then also so if as at by for from in into of on onto off to with without about per via " +
    "is are was be been being do does did done has have had can could will would shall should may might must " +
    "please kindly just now there here what which who whom whose how when where why all any each every some " +
    "thanks want need like let lets go use using tool tools call one given s"
  ).split(" "),
);

/**
 * The words of a text or an identifier for the search, reduced to a common root: `createdAuthors` and
 * "creating an author" -> creat, author.
 */
export function searchWords(text: string): string[] {
  return splitName(text.replace(/['’]s\b/g, "")).flatMap((word) =>
    STOP_WORDS.has(word) ? [] : [root(word)],
  );
}

/**
 * A word without plural, -ing, -ed, and a last e or y. The result may not be a word, but it is the same for
 * all forms.
 */
function root(word: string): string {
  const single = stem(word);
  const withoutEnding = /^(\p{L}{3,})(?:ing|ed)$/u.exec(single)?.[1] ?? single;
  const undoubled =
    withoutEnding === single ? withoutEnding : withoutEnding.replace(/([bdglmnprt])\1$/u, "$1");
  return undoubled.length > 3 ? undoubled.replace(/[ey]$/u, "") : undoubled;
}
