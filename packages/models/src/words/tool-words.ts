import {
  type ContractDeclaration,
  ContractDeclarationSchema,
  isJsonObject,
  type JsonValue,
  jsonTypesOf,
  type ToolDescriptor,
} from "@planwright/plan";
import { type Described, describedBy } from "./described.ts";
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
