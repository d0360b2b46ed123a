import { findRelatedTool, toolContract } from "@planwright/plan";
import { linkedNoun } from "../words/parameter.ts";
import type { ToolWords } from "../words/tool-words.ts";
import { isReadingVerb } from "../words/verbs.ts";
import { splitName, stem } from "../words/word-forms.ts";
import type { IndexedTool } from "./indexed-tool.ts";

/** Most tools that may give one value: one that makes the thing and two that find it. */
const MAX_SOURCES = 3;

/** What the tools of a catalogue need of each other. */
export interface ToolNeeds {
  /** Tools that by its contract must have run before it. */
  requiredBy(tool: IndexedTool): readonly IndexedTool[];
  /**
   * Tools whose output gives what it requires as an id, such as `createAuthor` for `authorId`: what makes the
   * thing before what finds it, those of its own server first, at most 3 for each parameter.
   */
  sourcesFor(tool: IndexedTool): readonly IndexedTool[];
}

/** Reads what tools give and need, from contracts, schemas, and names. */
export function createToolNeeds(tools: readonly IndexedTool[]): ToolNeeds {
  const byDescriptor = new Map(tools.map((each) => [each.tool, each]));
  const catalogue = tools.map(({ tool }) => tool);
  const givers = giversOf(tools);
  return {
    requiredBy: ({ tool }) =>
      toolContract(tool).contract.dependsOn.flatMap(({ tool: name }) => {
        const found = findRelatedTool(catalogue, tool, name);
        const indexed = found && byDescriptor.get(found);
        return indexed ? [indexed] : [];
      }),
    sourcesFor: (tool) =>
      neededThings(tool.words).flatMap((thing) => {
        const near = (giver: IndexedTool) => (giver.tool.server === tool.tool.server ? 0 : 1);
        const sources = (givers.get(thing) ?? []).filter(
          (giver) => giver !== tool && !needs(giver.words, thing),
        );
        return sources
          .toSorted((one, other) => near(one) - near(other) || order(one) - order(other) || one.at - other.at)
          .slice(0, MAX_SOURCES);
      }),
  };
}

/** Kinds of things of which it requires an id: "author" for `authorId`. */
const neededThings = (words: ToolWords): string[] => [
  ...new Set(
    words.parameters.flatMap((parameter) => {
      const thing = parameter.required ? linkedNoun(parameter) : null;
      return thing === null ? [] : [thing];
    }),
  ),
];

const needs = (words: ToolWords, thing: string) => neededThings(words).includes(thing);

/** What makes a thing comes first, then what searches or lists it, then what reads it. */
const order = ({ words }: IndexedTool) => (words.isMaking ? 0 : words.isListing ? 1 : 2);

/** Tools by the kind of thing of which their output holds an id. */
function giversOf(tools: readonly IndexedTool[]): Map<string, IndexedTool[]> {
  const givers = new Map<string, IndexedTool[]>();
  for (const tool of tools) {
    for (const thing of givenThings(tool)) givers.set(thing, [...(givers.get(thing) ?? []), tool]);
  }
  return givers;
}

function givenThings({ tool, words }: IndexedTool): Set<string> {
  const things = new Set<string>();
  const fields = [...words.outputs, ...(words.list?.fields ?? [])].map((field) => splitName(field).map(stem));
  for (const field of fields) {
    const ending = field.at(-1);
    if (ending === undefined || !ID_ENDINGS.has(ending)) continue;
    const noun = field.at(-2) ?? words.thing;
    if (noun !== null && noun !== undefined) things.add(noun);
  }
  // A tool that says nothing of its output, but makes or reads a thing, will name it.
  const isGiver = words.isMaking || isReadingVerb(words.verbs[0] ?? "");
  if (!tool.outputSchema && isGiver && words.thing !== null) things.add(words.thing);
  return things;
}

const ID_ENDINGS = new Set(["id", "uuid", "key", "slug", "number"]);
