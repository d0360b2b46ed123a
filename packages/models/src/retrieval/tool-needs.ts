import { findRelatedTool, toolContract } from "@planwright/plan";
import { linkedNoun } from "../words/parameter.ts";
import type { ToolWords } from "../words/tool-words.ts";
import { isReadingVerb } from "../words/verbs.ts";
import { splitName, stem } from "../words/word-forms.ts";
import type { IndexedTool } from "./indexed-tool.ts";

/** Maximum of sources for one value: one tool that creates the thing and two that find it. */
const MAX_SOURCES = 3;

/** Requirements between the tools of a catalogue. */
export interface ToolNeeds {
  /** Tools that must have run before it, by its contract. */
  requiredBy(tool: IndexedTool): readonly IndexedTool[];
  /**
   * Tools that return an id that it requires, such as `createAuthor` for `authorId`. Tools that create the
   * thing come before tools that find it, those of the same server first; at most 3 for each parameter.
   */
  sourcesFor(tool: IndexedTool): readonly IndexedTool[];
}

/** Reads from contracts, schemas and names what tools return and require. */
export function createToolNeeds(tools: readonly IndexedTool[]): ToolNeeds {
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
