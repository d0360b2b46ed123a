import {
  type ContractDeclaration,
  ContractDeclarationSchema,
  isJsonObject,
  type ToolDescriptor,
} from "@planwright/plan";
import { isKnownVerb, isListingVerb, isWeakVerb, PREPOSITIONS } from "./lexicon.ts";
import { ownObject, type Parameter, parametersOf } from "./parameter.ts";
import { isPlural, splitName, stem, wordsOf } from "./words.ts";

/** A tool as the rules see it: what it does, to what, and with which arguments. */
export interface ToolWords {
  tool: ToolDescriptor;
  /** What it does, the verb of its name first, then the one that its description opens with. */
  verbs: readonly string[];
  /** What it does that to, stemmed, the most telling last: `calendar_create_event` -> calendar, event. */
  nouns: readonly string[];
  /** What stands in its name behind a preposition: `listCommentsByBlog` -> blog. */
  qualifiers: readonly string[];
  /** Nouns of its title and of the first words of its description, stemmed. */
  describedNouns: readonly string[];
  /** The kind of thing that it is about. */
  thing: string | null;
  /** True when it answers with many things, so that none of them can be referred to. */
  isListing: boolean;
  parameters: readonly Parameter[];
  /** Fields of its output, with the fields of objects one level down as `author._id`. */
  outputs: ReadonlySet<string>;
  /** By the contract: tools whose output it needs, with the fields that it takes from them. */
  dependsOn: ReadonlyMap<string, readonly string[]>;
}

const SKIPPED = new Set(
  "a an the all one new current given single many of by for from in with to".split(" "),
);

/** Reads a tool's name, description and schemas once, for all sentences. */
export function toolWordsOf(tool: ToolDescriptor): ToolWords {
  const words = splitName(tool.name.slice(tool.name.lastIndexOf("/") + 1));
  const described = describedWords(tool.description);
  const verbAt = verbPosition(words, described.verb);
  const rest = words.filter((_, index) => index !== verbAt);
  const preposition = rest.findIndex((word, index) => index > 0 && isPreposition(word));
  const firstIsPreposition = isPreposition(rest[0] ?? "");
  const nouns = firstIsPreposition ? [] : preposition === -1 ? rest : rest.slice(0, preposition);
  const behind = firstIsPreposition ? rest.slice(1) : preposition === -1 ? [] : rest.slice(preposition + 1);
  const nameVerb = verbAt === -1 ? null : (words[verbAt] ?? null);
  const verbs = [...new Set([nameVerb, described.verb].filter((verb) => verb !== null))];
  const stems = nouns.filter((word) => !SKIPPED.has(word)).map(stem);
  const thing = stems.at(-1) ?? null;
  return {
    tool,
    verbs: verbs.length > 0 ? verbs : ["get"],
    nouns: stems,
    qualifiers: behind.filter((word) => !isPreposition(word)).map(stem),
    describedNouns: [...new Set([...splitName(tool.title ?? "").map(stem), ...described.nouns])],
    thing,
    isListing: isListingVerb(verbs[0] ?? "") || (nouns.length > 0 && isPlural(nouns.at(-1) ?? "")),
    parameters: parametersOf(tool.inputSchema, thing),
    outputs: outputsOf(tool),
    dependsOn: dependenciesOf(tool),
  };
}

const isPreposition = (word: string) => Object.hasOwn(PREPOSITIONS, word);

/** The verb of a name comes first, unless a better one stands behind it (`email_send`) or the description says otherwise. */
function verbPosition(words: readonly string[], describedVerb: string | null): number {
  const strong = words.findIndex((word) => isKnownVerb(word) && !isWeakVerb(word));
  const first = words[0] ?? "";
  if (isKnownVerb(first) && (strong <= 0 || !isWeakVerb(first))) return 0;
  if (strong !== -1) return strong;
  if (words.length === 1) return describedVerb === null || describedVerb === first ? 0 : -1;
  return describedVerb !== null && !words.includes(describedVerb) && !isKnownVerb(first) ? -1 : 0;
}

/** "Gets the current weather for a city" -> get; current, weather. Only the words up to the first preposition count. */
function describedWords(description: string | undefined): { verb: string | null; nouns: string[] } {
  const words = wordsOf(description ?? "", 12);
  const first = words[0] === undefined ? null : stem(words[0]);
  const verb = first !== null && isKnownVerb(first) ? first : null;
  const nouns: string[] = [];
  for (const word of verb === null ? words : words.slice(1)) {
    if (nouns.length > 0 && isPreposition(word)) break;
    if (!SKIPPED.has(word)) nouns.push(stem(word));
    if (nouns.length === 4) break;
  }
  return { verb, nouns };
}

/** Output fields by output schema and by the contract's `provides`. */
function outputsOf(tool: ToolDescriptor): Set<string> {
  const fields = new Set<string>();
  for (const [name, schema] of Object.entries(ownObject(tool.outputSchema, "properties"))) {
    fields.add(name);
    if (!isJsonObject(schema)) continue;
    for (const inner of Object.keys(ownObject(schema, "properties"))) fields.add(`${name}.${inner}`);
  }
  for (const name of declarationsOf(tool).flatMap((declared) => declared.provides ?? [])) fields.add(name);
  return fields;
}

function dependenciesOf(tool: ToolDescriptor): Map<string, string[]> {
  const declared = declarationsOf(tool).flatMap((declaration) => declaration.depends_on ?? []);
  return new Map(declared.map((dependency) => [dependency.tool, dependency.required_fields]));
}

/** Contracts where tools declare them; what cannot be read as one says nothing here. */
function declarationsOf(tool: ToolDescriptor): ContractDeclaration[] {
  const places = [
    tool._meta?.["x-orchestration"],
    tool["x-orchestration"],
    tool.inputSchema?.["x-orchestration"],
  ];
  return places.flatMap((place) => {
    const read = ContractDeclarationSchema.safeParse(place);
    return read.success ? [read.data] : [];
  });
}
