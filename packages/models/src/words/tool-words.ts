import {
  type ContractDeclaration,
  ContractDeclarationSchema,
  isJsonObject,
  type JsonValue,
  jsonTypesOf,
  type ToolDescriptor,
} from "@planwright/plan";
import { ownObject, type Parameter, parametersOf } from "./parameter.ts";
import {
  isKnownVerb,
  isListingVerb,
  isMakingVerb,
  isPlural,
  isWeakVerb,
  PREPOSITIONS,
  splitName,
  stem,
  wordsOf,
} from "./word-forms.ts";

/** A tool as the rules see it: its verbs, its things and its arguments. */
export interface ToolWords {
  tool: ToolDescriptor;
  /** Words of its name, without the server: `set_out_of_office` -> set, out, of, office. */
  spoken: readonly string[];
  /** Its verbs: first the verb of its name, then those at the start of its description. */
  verbs: readonly string[];
  /** Nouns in its name, stemmed, the most important last: `calendar_create_event` -> calendar, event. */
  nouns: readonly string[];
  /** Words after a preposition in its name: `listCommentsByBlog` -> blog. */
  qualifiers: readonly string[];
  /** Nouns of its title and of the start of its description, stemmed. */
  describedNouns: readonly string[];
  /** The described nouns that the tool acts on: other words for the thing. */
  objects: ReadonlySet<string>;
  /** Words for the place of the action: "adds an employee to the company". */
  places: ReadonlySet<string>;
  /** The kind of thing that the tool is about. */
  thing: string | null;
  /** True when it returns many things, so that only a position in the list identifies one of them. */
  isListing: boolean;
  /** True when it creates something new; false when it acts on a thing that already has an id. */
  isMaking: boolean;
  parameters: readonly Parameter[];
  /** Fields of its output, with fields of nested objects one level down as `author._id`. */
  outputs: ReadonlySet<string>;
  /** The list in its output: its path, and the fields of its items (none for plain values). */
  list: { path: string; fields: ReadonlySet<string> } | null;
  /** The only field of its output, when that is a text. */
  onlyText: string | null;
  /** From the contract: tools whose output it needs, with the fields that it uses. */
  dependsOn: ReadonlyMap<string, readonly string[]>;
}

const NEW_VERBS = new Set("create add new make insert register".split(" "));
const SKIPPED = new Set(
  "a an the all one new current given single many of by for from in with to".split(" "),
);

/** Reads a tool's name, description and schemas once, for all sentences. */
export function toolWordsOf(tool: ToolDescriptor): ToolWords {
  const words = splitName(tool.name.slice(tool.name.lastIndexOf("/") + 1));
  const described = describedBy(tool.description);
  const { verbAt, verbs } = verbsOf(words, described);
  const rest = words.filter((_, index) => index !== verbAt);
  const preposition = rest.findIndex((word, index) => index > 0 && isPreposition(word));
  const firstIsPreposition = isPreposition(rest[0] ?? "");
  const nouns = firstIsPreposition ? [] : preposition === -1 ? rest : rest.slice(0, preposition);
  const afterPreposition = firstIsPreposition
    ? rest.slice(1)
    : preposition === -1
      ? []
      : rest.slice(preposition + 1);
  const stems = nouns.filter((word) => !SKIPPED.has(word)).map(stem);
  const thing = stems.at(-1) ?? null;
  // A tool that creates a thing receives its `key` as a value, not as a reference.
  const parameters = parametersOf(tool.inputSchema, NEW_VERBS.has(verbs[0] ?? "") ? null : thing);
  return {
    tool,
    spoken: words,
    verbs,
    nouns: stems,
    qualifiers: afterPreposition.filter((word) => !isPreposition(word)).map(stem),
    describedNouns: [
      ...new Set([...splitName(tool.title ?? "").map(stem), ...described.nouns, ...described.objects]),
    ],
    objects: described.objects,
    places: described.places,
    thing,
    isListing: isListingVerb(verbs[0] ?? "") || (nouns.length > 0 && isPlural(nouns.at(-1) ?? "")),
    isMaking:
      isMakingVerb(verbs[0] ?? "") && !parameters.some((each) => each.required && each.link?.thing === thing),
    parameters,
    outputs: outputsOf(tool),
    list: listOf(tool),
    onlyText: onlyTextOf(tool),
    dependsOn: dependenciesOf(tool),
  };
}

const isPreposition = (word: string) => PREPOSITIONS.has(word);

/**
 * The verb of a name comes first, unless a better one follows (`email_send`). When the name has no known verb
 * but the description begins with one (`current_weather`: "Gets ..."), the first word may be a verb or a
 * noun, and counts as both.
 */
function verbsOf(
  words: readonly string[],
  { verbs, first: opening }: Described,
): { verbAt: number; verbs: string[] } {
  const strong = words.findIndex((word) => isKnownVerb(word) && !isWeakVerb(word));
  const first = words[0] ?? "";
  const all = (verbAt: number, more: readonly string[] = []) => ({
    verbAt,
    verbs: [...new Set([words[verbAt] ?? "", ...verbs, ...more].filter((verb) => verb !== ""))],
  });
  if (opening === first) return all(0);
  if (isKnownVerb(first) && (strong <= 0 || !isWeakVerb(first))) return all(0);
  if (strong !== -1) return all(strong);
  const [described] = verbs;
  if (described === undefined || described === first || words.includes(described)) return all(0);
  if (isKnownVerb(first)) return all(0);
  return { verbAt: -1, verbs: [...verbs, first] };
}

/** Output fields from the output schema and from `provides` of the contract. */
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

function onlyTextOf(tool: ToolDescriptor): string | null {
  const [only, second] = Object.entries(ownObject(tool.outputSchema, "properties"));
  const [name, schema] = only ?? [];
  return name !== undefined &&
    second === undefined &&
    isJsonObject(schema) &&
    jsonTypesOf(schema["type"])?.[0] === "string"
    ? name
    : null;
}

/** The first list in the output, which is the output itself or one level down. */
function listOf(tool: ToolDescriptor): ToolWords["list"] {
  const { outputSchema } = tool;
  if (!outputSchema) return null;
  const found = [["", outputSchema] as const, ...Object.entries(ownObject(outputSchema, "properties"))].find(
    ([, schema]) => isArray(schema),
  );
  if (!found || !isJsonObject(found[1])) return null;
  const [name, schema] = found;
  const fields = Object.keys(ownObject(ownObject(schema, "items"), "properties"));
  return { path: name === "" ? "" : `.${name}`, fields: new Set(fields) };
}

const isArray = (schema: JsonValue | undefined) =>
  isJsonObject(schema) && jsonTypesOf(schema["type"])?.[0] === "array";

function dependenciesOf(tool: ToolDescriptor): Map<string, string[]> {
  const declared = declarationsOf(tool).flatMap((declaration) => declaration.depends_on ?? []);
  return new Map(declared.map((dependency) => [dependency.tool, dependency.required_fields]));
}

/** Contracts from all places where tools declare them; an invalid declaration is ignored. */
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

/** Facts from the first sentence of a tool's description. */
interface Described {
  /** The verbs at its start: "Move or rename a file" -> move, rename. */
  verbs: readonly string[];
  /** Its first word, stemmed. It is a verb when the tool's name begins with the same word. */
  first: string | null;
  /**
   * The things that the tool acts on, stemmed ("file"), and other words for them: "a directory (folder)", "an
   * event, such as a meeting".
   */
  objects: ReadonlySet<string>;
  /** The words after its prepositions, stemmed: "to the shop" -> shop. */
  places: ReadonlySet<string>;
  /** Nouns and adjectives of its first words, stemmed. */
  nouns: readonly string[];
}

const SKIPPED_IN_NAMES = new Set(
  "a an the all one new current given single many of by for from in with to".split(" "),
);

/** Reads the start of a description; only the words up to the first preposition count. */
function describedBy(description: string | undefined): Described {
  const sentence = (description ?? "").slice(0, 400).split(/\.(?:\s|$)/)[0] ?? "";
  const words = wordsOf(sentence, 16);
  const verbs = leadingVerbs(words);
  const afterVerbs = words.slice(verbs.length === 0 ? 0 : verbs.length * 2 - 1);
  const nouns: string[] = [];
  for (const word of afterVerbs) {
    if (nouns.length > 0 && (PREPOSITIONS.has(word) || word === "such" || word === "that")) break;
    if (!SKIPPED_IN_NAMES.has(word) && word !== "and" && word !== "or") nouns.push(stem(word));
    if (nouns.length === 4) break;
  }
  return {
    verbs,
    first: words[0] === undefined ? null : stem(words[0]),
    nouns,
    places: placesOf(afterVerbs),
    objects: new Set([...objectsOf(afterVerbs), ...synonymsIn(sentence)]),
  };
}

const ARTICLES = new Set(["a", "an", "the", "one"]);

/**
 * "Moves or renames" -> move, rename. An unknown word is a verb when an article follows: "Deploys a version".
 */
function leadingVerbs(words: readonly string[]): string[] {
  const verbs: string[] = [];
  for (let at = 0; at < words.length; at += 2) {
    const verb = stem(words[at] ?? "");
    if (!isKnownVerb(verb) && !ARTICLES.has(words[at + 1] ?? "")) break;
    // "Returns one order" is the language of interfaces and does not mean to send goods back.
    verbs.push(verb === "return" ? "get" : verb);
    if (words[at + 1] !== "or" && words[at + 1] !== "and") break;
  }
  return verbs;
}

/** The last word of the first noun phrase, and those of the noun phrases that "and" or "or" joins to it. */
function objectsOf(words: readonly string[]): string[] {
  const objects: string[] = [];
  let last: string | null = null;
  for (const word of words) {
    if (last !== null && (PREPOSITIONS.has(word) || word === "such" || word === "that")) break;
    if (word === "and" || word === "or") {
      if (last !== null) objects.push(last);
      last = null;
    } else if (!SKIPPED_IN_NAMES.has(word)) last = stem(word);
  }
  return last === null ? objects : [...objects, last];
}

/** The word after each preposition and its article. */
function placesOf(words: readonly string[]): Set<string> {
  const places = words.flatMap((word, at) => {
    const noun = words[at + (ARTICLES.has(words[at + 1] ?? "") ? 2 : 1)];
    return PREPOSITIONS.has(word) && noun !== undefined ? [stem(noun)] : [];
  });
  return new Set(places);
}

/** Other words for the thing: the word in brackets, and the words after "such as" or "also called". */
function synonymsIn(sentence: string): string[] {
  const brackets = /\(([^()]{1,60})\)/.exec(sentence)?.[1] ?? "";
  const examples =
    /(?:such as|also called|also known as|i\.e\.)\s+([^.;()]{1,60})/i.exec(sentence)?.[1] ?? "";
  return [brackets, examples]
    .flatMap((text) => text.split(/,|\bor\b|\band\b/i))
    .flatMap((text) => wordsOf(text, 4).at(-1) ?? [])
    .map(stem);
}
