import {
  type ContractDeclaration,
  ContractDeclarationSchema,
  isJsonObject,
  type JsonValue,
  jsonTypesOf,
  type ToolDescriptor,
} from "@planwright/plan";
import { type Described, describedBy } from "./described.ts";
import { PREPOSITIONS } from "./function-words.ts";
import { ownObject, type Parameter, parametersOf } from "./parameter.ts";
import { isKnownVerb, isListingVerb, isMakingVerb, isWeakVerb } from "./verbs.ts";
import { isPlural, splitName, stem } from "./word-forms.ts";

/** A tool as the rules see it: what it does, to what, and with which arguments. */
export interface ToolWords {
  tool: ToolDescriptor;
  /**
   * Words of its name without the server's, as they are spoken: `set_out_of_office` -> set, out, of, office.
   */
  spoken: readonly string[];
  /** What it does, the verb of its name first, then those that its description opens with. */
  verbs: readonly string[];
  /** What it does that to, stemmed, the most telling last: `calendar_create_event` -> calendar, event. */
  nouns: readonly string[];
  /** What stands in its name after a preposition: `listCommentsByBlog` -> blog. */
  qualifiers: readonly string[];
  /** Nouns of its title and of the first words of its description, stemmed. */
  describedNouns: readonly string[];
  /** Those among them that its description says it acts on: other words for the thing. */
  objects: ReadonlySet<string>;
  /** Where its description says that it acts: "adds an employee to the company". */
  places: ReadonlySet<string>;
  /** The kind of thing that it is about. */
  thing: string | null;
  /** True when it answers with many things, so that only a place in the list says which is meant. */
  isListing: boolean;
  /** True when it makes something new, rather than doing something to a thing that has an id already. */
  isMaking: boolean;
  parameters: readonly Parameter[];
  /** Fields of its output, with the fields of objects one level down as `author._id`. */
  outputs: ReadonlySet<string>;
  /**
   * The list in its output: where it stands, and the fields of its items (none where they are plain values).
   */
  list: { path: string; fields: ReadonlySet<string> } | null;
  /** The field of its output when there is one alone, and it is a text. */
  onlyText: string | null;
  /** By the contract: tools whose output it needs, with the fields that it takes from them. */
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
  const behind = firstIsPreposition ? rest.slice(1) : preposition === -1 ? [] : rest.slice(preposition + 1);
  const stems = nouns.filter((word) => !SKIPPED.has(word)).map(stem);
  const thing = stems.at(-1) ?? null;
  // What a tool that makes a thing calls `key` is given, and not looked up.
  const parameters = parametersOf(tool.inputSchema, NEW_VERBS.has(verbs[0] ?? "") ? null : thing);
  return {
    tool,
    spoken: words,
    verbs,
    nouns: stems,
    qualifiers: behind.filter((word) => !isPreposition(word)).map(stem),
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
 * The verb of a name comes first, unless a better one stands after it (`email_send`). Where the name shows
 * none and the description opens with one (`current_weather`: "Gets ..."), the first word may be either, and
 * counts as both.
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

/** The first list in the output, itself or one level down. */
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

/** Contracts where tools declare them; a declaration that cannot be read is ignored. */
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
