import { hasSideEffects } from "../contract/tool-contract.ts";
import { cut, type DiagnosticCollector, type DiagnosticText } from "../document/diagnostic.ts";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type PathSegment,
  printReference,
  visitTexts,
} from "../json/json.ts";
import { checkAgainstSchema } from "../schema/compile-schema.ts";
import { type ArgumentText, argumentTexts, isListed } from "../schema/fit-texts.ts";
import { schemaAtPath } from "../schema/schema-types.ts";
import { schemaOfShape } from "../tools/observe-output.ts";
import type { ToolDescriptor } from "../tools/tool-descriptor.ts";

/** A call of a plan. */
export interface PlannedCall {
  readonly step: { readonly index: number; readonly id: string };
  /** Undefined for an unknown tool. */
  readonly tool: ToolDescriptor | undefined;
  readonly arguments: JsonObject;
  /** Path from the step to the arguments. */
  readonly keys: readonly string[];
  /** The arguments are templates for the items of a list, so their texts are not names of things. */
  readonly isForEach: boolean;
}

/**
 * How a request must contain a text so that it counts as a value: among its words; in quotes, for text that
 * may only describe the value ("the author's id"); as an id ("author id Alice"), for text that may only name
 * the thing.
 */
export type SaidHow = "words" | "quotes" | "id";

/** Context for judging values. */
interface NoValueChecking {
  readonly diagnostics: DiagnosticCollector;
  /** True for a text that another check handles. */
  readonly isPlaceholder: (text: string) => boolean;
  readonly isSaid: (text: string, how: SaidHow) => boolean;
  /** How to get a value, as the end of a sentence. */
  readonly ask: string;
  /**
   * How bad the empty text is where a value is needed. People and programs may know that it is accepted; a
   * model leaves out what it does not know.
   */
  readonly emptyText: "error" | "warning";
  /**
   * True: optional arguments of tools with side effects are checked for placeholders too. People and programs may
   * mean such a text; a model leaves out what it does not know.
   */
  readonly checksOptional: boolean;
}

/** Maximum number of diagnostics for one step. */
const MAX_DIAGNOSTICS = 20;

/**
 * Finds required arguments with a placeholder for this parameter (`[email]`, `extracted_email`), and, for
 * tools with side effects, those that have no real value (blank, "null", "unknown", "the author's id"), and
 * names instead of ids that an earlier call of the plan returns. In optional arguments it finds placeholders, where
 * that is asked for. Text that the request contains or the schema
 * lists is a value. So is the empty text, except for an id, the address of a person, what an earlier step
 * gives, and where the schema refuses it. Another check reports
 * placeholders that need no parameter.
 */
export function checkNoValues(calls: readonly PlannedCall[], checking: NoValueChecking): void {
  const names = createGivenNames();
  const effects = new Map<ToolDescriptor, boolean>();
  for (const call of calls) {
    const { tool, step, isForEach } = call;
    if (!tool) continue;
    const hasEffects = effects.get(tool) ?? hasSideEffects(tool);
    effects.set(tool, hasEffects);
    if (isJsonObject(tool.inputSchema)) checkCall(call, tool.inputSchema, { names, hasEffects, checking });
    if (!isForEach) names.add({ id: step.id, tool, arguments: call.arguments });
  }
}

interface CallChecking {
  readonly names: GivenNames;
  readonly hasEffects: boolean;
  readonly checking: NoValueChecking;
}

function checkCall(call: PlannedCall, schema: JsonObject, context: CallChecking): void {
  const { checking } = context;
  let count = 0;
  const optional = checking.checksOptional && context.hasEffects;
  for (const each of argumentTexts(schema, call.arguments, { optional })) {
    const { text, schemas } = each;
    // Most texts are references.
    const found = text.startsWith("<<") ? undefined : problemOf(each, context);
    if (!found || checking.isPlaceholder(text) || isListed(text, schemas)) continue;
    const keys = [...call.keys, ...each.keys];
    const message = `step ${call.step.id}: ${found.message}`;
    checking.diagnostics.add("ARGUMENT_PLACEHOLDER", { step: call.step, keys }, { ...found, message });
    if (++count >= MAX_DIAGNOSTICS) return;
  }
}

type Problem = Pick<DiagnosticText, "message" | "suggestion" | "severity">;

function problemOf(argument: ArgumentText, context: CallChecking): Problem | undefined {
  const { text, isRequired, name, schemas } = argument;
  const { names, hasEffects } = context;
  const { isSaid, ask } = context.checking;
  if (isPlaceholderFor(text, name)) {
    if (isSaid(text, "words")) return undefined;
    return {
      message: `${shown(name, text)}, which is a placeholder; give the value, or a reference such as <<step.field>>${isRequired ? "" : ", or leave it out"}`,
    };
  }
  if (!hasEffects || !isRequired) return undefined;
  if (text === "") return emptyProblem(argument, context);
  const kind = kindOf(name, schemas);
  if (isNoValue(text, kind)) {
    if (isSaid(text, speaksOfValue(text, kind) ? "quotes" : "words")) return undefined;
    return {
      message: `${shown(name, text)}, which is no value; refer to the earlier step that gives it, such as <<step.field>>, or ${ask}`,
    };
  }
  const given = kind === "id" && !acceptsName(schemas) ? names.idOf(text, name) : undefined;
  if (!given || isSaid(text, "id")) return undefined;
  return {
    message: `${shown(name, text)}, which is a name and no id; ${remedyOf(given)}`,
    suggestion: given.reference,
  };
}

function emptyProblem(
  { text, name, schemas }: ArgumentText,
  { names, checking }: CallChecking,
): Problem | undefined {
  const given = names.fieldOf(name);
  const isRefused = schemas.length > 0 && schemas.every(refusesEmpty);
  if (!given && !isRefused && kindOf(name, schemas) !== "id" && !isPersonAddress(name)) return undefined;
  if (checking.isSaid(text, "words")) return undefined;
  const source = given?.reference ?? "<<step.field>>";
  return {
    message: `${shown(name, text)}, which is no value; refer to the earlier step that gives it, such as ${source}, or ${checking.ask}`,
    // The check against the schema refuses it as well.
    severity: isRefused ? "error" : checking.emptyText,
    suggestion: given?.reference,
  };
}

function refusesEmpty(schema: JsonValue): boolean {
  if (!isJsonObject(schema)) return false;
  const { minLength = null, pattern = null, format = null } = schema;
  const verdict = checkAgainstSchema({ minLength, pattern, format }, "");
  return verdict.usable && verdict.errors.length > 0;
}

const shown = (name: string, text: string): string => `${name} is ${JSON.stringify(cut(text, 60))}`;

const remedyOf = ({ stepId, reference }: GivenName): string =>
  reference === undefined
    ? `refer to the id that step ${stepId} gives, such as <<${stepId}.field>>`
    : `step ${stepId} gives the id: write ${reference}`;

const SAYS_ID = /^(?:the |an? )?(?:[\w'’]+ ){0,3}(?:(?:object ?)?ids?|uuid|identifier)\b/i;
const SAYS_NAME = /\bnames?\b|\bslug\b|\bhandle\b|\be-?mail\b|\btitle\b/i;

function kindOf(name: string, schemas: readonly JsonValue[]): ParameterKind {
  const kind = parameterKind(name);
  return kind === "any" && describes(schemas, SAYS_ID) && !acceptsName(schemas) ? "id" : kind;
}

/** True for a parameter such as "Name or id of the author". */
const acceptsName = (schemas: readonly JsonValue[]): boolean => describes(schemas, SAYS_NAME);

function describes(schemas: readonly JsonValue[], words: RegExp): boolean {
  return schemas.some((schema) => {
    const description = isJsonObject(schema) ? schema["description"] : undefined;
    return typeof description === "string" && words.test(description.slice(0, 500));
  });
}

/** A call whose output contains the id of the thing that it names. */
interface GivenName {
  readonly stepId: string;
  /** The reference to the id, if its path is known. */
  readonly reference: string | undefined;
}

/** The data of a call for this check. */
interface NamingCall {
  readonly id: string;
  readonly arguments: JsonObject;
  readonly tool: ToolDescriptor;
}

/** The names in earlier calls of a plan, and the ids that these calls return. */
interface GivenNames {
  add(call: NamingCall): void;
  /** The last earlier call whose output declares a field with the name of the parameter. */
  fieldOf(parameter: string): GivenName | undefined;
  /** The last earlier call with this name in its arguments that returns the id which the parameter needs. */
  idOf(name: string, parameter: string): GivenName | undefined;
}

/** Longer texts are values: no names, no words for "no value", no placeholders. */
const MAX_LENGTH = 100;
/** Maximum number of names of one call. */
const MAX_NAMES = 200;
/** Maximum number of paths of an output that are searched for an id. */
const MAX_PLACES = 200;
/**
 * A capital and lower-case letters, several words, or letters of a script without capitals: `Alice`, `Kim
 * Park`, `田中`.
 */
const NAME =
  /^(?=\p{L})(?:\p{Lu}[\p{L}\p{M}'’.-]*\p{Ll}[\p{L}\p{M}'’.-]*|\p{Lo}+|[\p{L}\p{M}'’.-]+(?: [\p{L}\p{M}'’.-]+){1,6})$/u;

/** True for a text with the form of the name of a person or a thing, which no id has. */
function isNameOfThing(text: string): boolean {
  const trimmed = text.trim();
  return trimmed.length <= MAX_LENGTH && NAME.test(trimmed);
}

/** An empty collection. Of several calls with the same name the last one counts. */
function createGivenNames(): GivenNames {
  const calls = new Map<string, NamingCall[]>();
  const fields = new Map<string, GivenName>();
  return {
    add(call) {
      const names = new Set<string>();
      visitTexts(call.arguments, (text, place) => {
        const field = typeof place?.key === "string" ? place.key : String(place?.parent?.key ?? "");
        if (names.size < MAX_NAMES && isNameOfThing(text) && parameterKind(field) === "any")
          names.add(plain(text));
      });
      for (const name of fieldsOf(outputSchemaOf(call.tool) ?? null)) {
        const reference = printReference(call.id, [{ type: "key", key: name }]);
        fields.set(wordsOfName(name).join(" "), { stepId: call.id, reference });
      }
      for (const name of names) calls.set(name, [...(calls.get(name) ?? []).slice(-4), call]);
    },
    fieldOf: (parameter) => fields.get(wordsOfName(parameter).join(" ")),
    idOf(name, parameter) {
      if (!isNameOfThing(name)) return undefined;
      for (const call of (calls.get(plain(name)) ?? []).toReversed()) {
        const given = idGivenBy(call, parameter);
        if (given) return given;
      }
      return undefined;
    },
  };
}

const plain = (name: string): string => name.normalize("NFKC").trim().replace(/\s+/g, " ").toLowerCase();

/**
 * The id that a call returns: by its output schema, by earlier outputs, or, without both, by a word that the
 * tool and the parameter share.
 */
function idGivenBy({ id, tool }: NamingCall, parameter: string): GivenName | undefined {
  const schema = outputSchemaOf(tool);
  if (!schema) {
    const things = wordsOfName(parameter).slice(0, -1);
    const words = new Set(wordsOfName(tool.name));
    return things.some((thing) => words.has(thing)) ? { stepId: id, reference: undefined } : undefined;
  }
  const path = pathOfId(schema, parameter);
  if (!path) return undefined;
  const isSingle = path.every(({ type }) => type === "key");
  return { stepId: id, reference: isSingle ? printReference(id, path) : undefined };
}

/** The declared schema of a tool's output, or that of earlier outputs. */
function outputSchemaOf(tool: ToolDescriptor): JsonObject | undefined {
  if (isJsonObject(tool.outputSchema)) return tool.outputSchema;
  return tool.observedOutput && schemaOfShape(tool.observedOutput);
}

/** The path of the nearest id field of an output: first a field with the parameter's name. */
function pathOfId(schema: JsonObject, parameter: string): readonly PathSegment[] | undefined {
  const wanted = wordsOfName(parameter).join(" ");
  const pending: (readonly PathSegment[])[] = [[]];
  let nearest: readonly PathSegment[] | undefined;
  for (let count = 0; count < MAX_PLACES; count++) {
    const path = pending[count];
    if (!path) break;
    const found = schemaAtPath(schema, path);
    for (const each of found.type === "known" ? found.schemas : []) {
      for (const name of fieldsOf(each)) {
        const inner: readonly PathSegment[] = [...path, { type: "key", key: name }];
        const words = wordsOfName(name);
        if (words.join(" ") === wanted) return inner;
        if (words.length === 1 && parameterKind(name) === "id") nearest ??= inner;
        if (inner.length < 5) pending.push(inner);
      }
      if (isJsonObject(each) && isJsonObject(each["items"]) && path.length < 4)
        pending.push([...path, { type: "all" }]);
    }
  }
  return nearest;
}

function fieldsOf(schema: JsonValue): string[] {
  const properties = isJsonObject(schema) ? schema["properties"] : undefined;
  return isJsonObject(properties) ? Object.keys(properties).slice(0, MAX_PLACES) : [];
}

/**
 * Texts that people and models write for an unknown value, in lower case, without surrounding quotes and
 * brackets.
 */
const NO_VALUES: ReadonlySet<string> = new Set(
  `null|nil|none|undefined|unknown|unspecified|n/a|n.a|n\\a|no value|value unknown|unknown value|value missing|missing value|empty string|empty text|unbekannt|keine angabe|inconnu|aucun|desconocido|ninguno|desconhecido|nenhum|sconosciuto|nessuno|неизвестно|未知|未提供|不明|不详|无|無|なし|없음`.split(
    "|",
  ),
);
const NOT_KNOWN =
  /^(?:(?:is )?not (?:available|applicable|specified|provided|given|known|set|mentioned|stated|found)(?: (?:yet|in the (?:request|query)))?|none (?:given|provided|specified|available|known))$/;

const ID = String.raw`(?:_?ids?|object[ _]?ids?|uuids?|guids?|identifiers?)`;
const FROM = String.raw`(?:of|for|from|in|returned (?:by|from|in)|given (?:by|to)|generated (?:by|for)|created (?:by|for)|provided by)`;
/** Never a value, for any parameter: "ObjectId of the author", "the author's id", "id returned by step 1". */
const ID_PHRASES: readonly RegExp[] = [
  new RegExp(
    `^(?:the )?(?:[a-z]+ )?${ID} (?:of|from|returned (?:by|from)|generated by) (?:the|this|that|(?:newly )?created|new|previous|prior|last|first|step) \\S.*$`,
    "i",
  ),
  new RegExp(`^the (?:[a-z]+ ){0,3}[a-z]+['’]s? (?:new )?${ID}$`, "i"),
];
/** Not a value for an id: ids have none of these forms. */
const IN_PLACE_OF_ID: readonly RegExp[] = [
  new RegExp(`^(?:the |an? )?(?:\\S+ ){0,4}${ID} ${FROM} \\S.*$`, "i"),
  new RegExp(`^(?:the )?(?:\\S+ ){0,4}\\S+['’]s? (?:\\S+ ){0,2}${ID}$`, "i"),
  new RegExp(`^(?:the|an?|my|your|this|that) (?:\\S+ ){0,4}${ID}$`, "i"),
  new RegExp(
    `^(?:unknown|no|missing|null|undefined|some|any|valid|actual)[ _-](?:\\S+[ _-]){0,3}${ID}$`,
    "i",
  ),
  /^(?:the )?(?:outputs?|results?|responses?|values?) (?:of|from) \S.*$/i,
  /^(?:the|this|that) (?:(?:newly|previously|just) )?(?:created|new|previous|above|same|first|last|found) \S.*$/i,
];
const CONTACT = String.raw`(?:e-?mail(?: address)?|address|phone(?: number)?|mobile(?: number)?|url|link|token|api key)`;
/** Not a value for an address, a number or a token. */
const IN_PLACE_OF_CONTACT: readonly RegExp[] = [
  new RegExp(`^(?:the )?${CONTACT} ${FROM} \\S.*$`, "i"),
  new RegExp(`^(?:the )?(?:\\S+ ){0,4}\\S+['’]s? ${CONTACT}$`, "i"),
  new RegExp(`^the (?:\\S+ ){0,4}${CONTACT}$`, "i"),
];

const ID_WORDS = new Set("id ids uuid uuids guid guids oid identifier identifiers".split(" "));
const CONTACT_WORDS = new Set(
  "email emails mail phone mobile url link token to cc bcc recipient recipients sender".split(" "),
);

/** The kind of a parameter, by its name. */
type ParameterKind = "id" | "contact" | "any";

/**
 * The kind of a parameter with this name: an id (`authorId`), an address, number or token (`email`), or
 * anything.
 */
function parameterKind(name: string): ParameterKind {
  const last = wordsOfName(name).at(-1) ?? "";
  if (ID_WORDS.has(last)) return "id";
  return CONTACT_WORDS.has(last) ? "contact" : "any";
}

/** True for the address of a person: `email`, `emailAddress`, `phone_number`, `to`; not for `url` or `cc`. */
function isPersonAddress(name: string): boolean {
  const words = wordsOfName(name);
  const last = words.at(-1) ?? "";
  if (ADDRESS_WORDS.has(last)) return true;
  return ["address", "addresses", "number", "numbers"].includes(last) && REACHING.has(words.at(-2) ?? "");
}

const REACHING = new Set("email emails mail phone mobile".split(" "));
const ADDRESS_WORDS = new Set([...REACHING, "to", "recipient", "recipients", "sender"]);

/** The words of a name, in lower case: `authorId`, `author_id` and `AuthorID` have two. */
function wordsOfName(name: string): string[] {
  const apart = name.replace(/([a-z0-9])([A-Z])/g, "$1 $2");
  return (apart.match(/[A-Za-z]+/g) ?? []).map((word) => word.toLowerCase());
}

/**
 * True for a text that means "no value", or describes the value instead of giving it: blank, "null",
 * "unknown", "N/A", "ObjectId of the author". Case, and quotes or brackets around it, do not matter. False
 * for every text of more than 100 characters that is not blank.
 * @param kind - kind of the parameter: for an id, "id of Alice" is not a value either
 */
function isNoValue(text: string, kind: ParameterKind = "any"): boolean {
  const trimmed = text.trim();
  if (trimmed === "") return true;
  return trimmed.length <= MAX_LENGTH && (isNoWord(trimmed) || isPhrase(trimmed, kind));
}

/** True when the text describes the value; a request with the same words does not give the value either. */
function speaksOfValue(text: string, kind: ParameterKind): boolean {
  const trimmed = text.trim();
  return trimmed.length <= MAX_LENGTH && kind !== "any" && !isNoWord(trimmed) && isPhrase(trimmed, kind);
}

function isNoWord(trimmed: string): boolean {
  const bare = bareText(trimmed);
  // Empty quotes.
  return bare === "" ? /^["'`“”‘’]{2,6}$/.test(trimmed) : NO_VALUES.has(bare) || NOT_KNOWN.test(bare);
}

function isPhrase(trimmed: string, kind: ParameterKind): boolean {
  // A single word is not a phrase.
  if (!/[\s_-]/.test(trimmed)) return false;
  const bare = bareText(trimmed);
  const patterns = kind === "id" ? IN_PLACE_OF_ID : kind === "contact" ? IN_PLACE_OF_CONTACT : [];
  return [...ID_PHRASES, ...patterns].some((pattern) => pattern.test(bare));
}

/** Lower case, without surrounding signs: `"N/A".` and `(none)`. */
function bareText(text: string): string {
  return text
    .normalize("NFKC")
    .replace(/^["'`“‘([<{]+/, "")
    .replace(/["'`”’)\]>}.]+$/, "")
    .replace(/\s+/g, " ")
    .trim()
    .toLowerCase();
}

/**
 * Texts that models write without a value. Only short texts are checked, so the patterns cost almost nothing.
 */
const PLACEHOLDERS: readonly RegExp[] = [
  /^<[a-z][a-z0-9_. -]*>$/i, // <author_id>
  /^\[[a-z]+(?:[_ -][a-z0-9]+)+\]$/i, // [author_id], [INSERT NAME]
  /^\{[a-z][a-z0-9_.-]*\}$/i, // {author_id}
  /^\$\{[a-z][a-z0-9_.-]*\}$/i, // ${author_id}
  /^(?:YOUR|MY|INSERT|ENTER|REPLACE|FILL)(?:[_-][A-Z0-9]+)+$/, // YOUR_API_KEY
  /^your[_-](?:[a-z0-9]+[_-])*(?:id|key|token|secret|name|email|url|value|password)$/i,
  /^[a-z0-9_]*_?placeholder_?[a-z0-9_]*$/i,
  /^[a-z0-9_]+_(?:goes_)?here$/i, // author_id_here
  /^(?:to be (?:determined|filled|provided|extracted)|fill[ _]?(?:me[ _])?in|insert[ _]here|replace[ _]me|change[ _]?me)$/i,
  /^(?:extracted|extracted_from_[a-z0-9_]+|extracted from (?:the )?(?:query|request|input|message|step|output|text)|todo|tbd|tbc|fixme|x{3,}|\?{2,})$/i,
  /^(?:id|result|output|value|response)[ _](?:of|from)[ _](?:the[ _])?(?:previous[ _])?(?:step|tool|call)[ _0-9a-z]*$/i,
  /^(?:(?:bearer|basic) )?\[redacted\]$/i, // models see this text instead of a secret
];

/** Placeholders in the place of a required value; elsewhere such a text may be meant. */
const IN_PLACE_OF_VALUE: readonly RegExp[] = [
  /^extracted[_-][a-z0-9_-]+$/i, // extracted_email
  /^[a-z0-9]+(?:_[a-z0-9]+){0,8}_from_(?:the_)?(?:query|request|prompt|input|message|conversation|context|user|(?:previous_|last_)?(?:step|tool|output|result)(?:_?[0-9]+)?)$/i, // email_from_query
];
/** [email], extracted email, %email%, __email__: placeholders when the words are about the parameter. */
const AROUND_WORDS: readonly RegExp[] = [
  /^\[([a-z][a-z0-9 _-]*)\]$/i,
  /^extracted ([a-z][a-z0-9 _-]*)$/i,
  /^(?:%|__|\*|#)([a-z][a-z0-9 _-]*?)(?:%|__|\*|#)$/i,
];
const VALUE_WORDS = new Set(
  "email mail name id title date time url link phone address value text content message token key number amount description subject body city location recipient".split(
    " ",
  ),
);

/**
 * True for a text that replaces the value of a required parameter, whatever its format: `extracted_email` and
 * `email_from_query` anywhere, `[email]` where it is about the parameter or names a usual one.
 */
export function isPlaceholderFor(text: string, parameter: string): boolean {
  const trimmed = text.trim();
  if (trimmed.length > MAX_LENGTH) return false;
  if (IN_PLACE_OF_VALUE.some((pattern) => pattern.test(trimmed))) return true;
  const own = new Set(wordsOfName(parameter));
  return AROUND_WORDS.some((pattern) => {
    const words = wordsOfName(pattern.exec(trimmed)?.[1] ?? "");
    return words.length > 0 && words.every((word) => own.has(word) || VALUE_WORDS.has(word));
  });
}

/** True for a text that replaces a missing value: `<author_id>`, `YOUR_API_KEY`, `extracted`. */
export function isPlaceholder(text: string): boolean {
  const trimmed = text.trim();
  return (
    trimmed !== "" && trimmed.length <= MAX_LENGTH && PLACEHOLDERS.some((pattern) => pattern.test(trimmed))
  );
}

/**
 * The reference that a text means in the style of other languages: `${step.field}`, `{step.field}`,
 * `$step.field`, `<step.field>`.
 * @returns root and path text, such as `createAuthor` and `._id`
 */
export function foreignReference(text: string): { root: string; path: string } | undefined {
  if (text.length > MAX_LENGTH * 2) return undefined;
  const match = /^\s*(?:\$\{([^{}]+)\}|\{([^{}]+)\}|<([^<>]+)>|\$([A-Za-z][^\s$]*))\s*$/.exec(text);
  const inner = (match?.[1] ?? match?.[2] ?? match?.[3] ?? match?.[4])?.trim();
  const parts =
    inner === undefined ? null : /^([A-Za-z_][A-Za-z0-9_/-]*)((?:\.[\w-]+|\[\d+\])*)$/.exec(inner);
  return parts?.[1] === undefined ? undefined : { root: parts[1], path: parts[2] ?? "" };
}
