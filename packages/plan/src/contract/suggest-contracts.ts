/**
 * Suggests contracts for tools whose server publishes none, for an operator who accepts or drops each one.
 *
 * 1. Nothing here is ever believed by itself: only the servers file decides.
 * 2. In doubt nothing is suggested. A read that is missed costs one more decision of an operator; an effect that
 *    is called a read may happen twice. So name, description, parameters and hints all have to agree.
 * 3. Texts of servers are untrusted: they are compared with fixed lists of words in linear time, cut to 4,096
 *    characters, and never taken over into a value.
 * 4. A model may only propose. Where it loosens what the rules have something against, the proposal is shown with
 *    that reason and is in no block; where it is tighter than the rules, the rules' line is the one that is left out.
 */

import { jsonEquals } from "../json/exact-json.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/json.ts";
import { bareName, type ToolDescriptor } from "../tools/tool-descriptor.ts";
import type { ContractDeclaration } from "./contract.ts";
import { ownMember } from "./tool-contract.ts";

/** A tool and what is known about it beside its declarations. */
export interface ToolToSuggest {
  tool: ToolDescriptor;
  /** Fields, as contracts name them, that the operator has decided: they get no suggestion. */
  decided?: ReadonlySet<string> | undefined;
  /** What the contract of its server says, by field, where that is believed: it may only be more careful. */
  declared?: ReadonlyMap<string, JsonValue> | undefined;
  /** Its recent calls. */
  seen?: { count: number; failures: number; p99Ms: number | null } | undefined;
}

/** What a model proposes for one field. The value is valid for the field; nothing else is known about it. */
export interface ContractProposal {
  /** The tool's name on its server. */
  tool: string;
  field: ProposedField;
  value: JsonValue;
  /** In the model's words, cleaned. */
  reason: string;
}

/**
 * The fields that a model may propose: what texts can say. A timeout follows from measured calls alone.
 */
export const PROPOSED_FIELDS = ["side_effects", "idempotency", "lookup", "max_concurrency"] as const;
type ProposedField = (typeof PROPOSED_FIELDS)[number];

/** One field of a contract with the reason for it. */
export interface SuggestedField {
  field: keyof ContractDeclaration;
  value: JsonValue;
  reason: string;
  /** Whether the rules of this file or a model suggest it. */
  source: "rule" | "model";
  /** What speaks against the value, as a clause: then no block has the field. Null: nothing that is known. */
  against: string | null;
}

/** The suggestion for one tool; only tools with a field have one. */
export interface SuggestedContract {
  /** Its name on its server, as the servers file names it. */
  tool: string;
  fields: SuggestedField[];
}

/**
 * Suggestions for the tools of one server, in their order.
 * @param tools - all tools of the server: a look-up tool is one of them, and a word that begins all their names
 *   says nothing
 */
export function suggestContracts(
  tools: readonly ToolToSuggest[],
  proposals: readonly ContractProposal[] = [],
): SuggestedContract[] {
  const facts = factsOf(tools);
  return facts.flatMap((one) => {
    const rules = [
      ...effectOf(one),
      ...repeatOf(one),
      ...lookupOf(one, facts),
      ...parallelismOf(one),
      ...timeoutOf(one),
    ].map((field): SuggestedField => ({ ...field, source: "rule", against: null }));
    const proposed = proposals.filter(({ tool }) => tool === one.name);
    const fields = withProposals(rules, proposed, { one, all: facts }).filter(
      ({ field }) => !one.decided.has(field),
    );
    return fields.length === 0 ? [] : [{ tool: one.name, fields }];
  });
}

/** The lines of the rules with those of a model: the first proposal for each field that says something new. */
function withProposals(
  rules: readonly SuggestedField[],
  proposals: readonly ContractProposal[],
  of: { one: Facts; all: readonly Facts[] },
): SuggestedField[] {
  const fields = [...rules];
  for (const { field, value, reason } of proposals) {
    const rule = fields.find((line) => line.field === field);
    if (rule?.source === "model" || (rule && rule.against !== null)) continue;
    if (rule && jsonEquals(rule.value, value)) continue;
    const line: SuggestedField = { field, value, reason, source: "model", against: null };
    if (isCareful(field, value)) {
      if (rule) fields[fields.indexOf(rule)] = { ...rule, against: `a model disagrees: ${reason}` };
      else if (!loosensByHint(field, of.one)) continue;
      fields.push(line);
      continue;
    }
    if (field !== "side_effects" && (of.one.readOnly === true || isRead(of.one))) continue;
    const byRule = rule ? `by the rules, ${rule.reason}` : null;
    fields.push({ ...line, against: againstProposal(field, value, of) ?? byRule });
  }
  return fields;
}

/** True for a value that makes calls more careful than any other. */
function isCareful(field: ProposedField, value: JsonValue): boolean {
  return value === { side_effects: true, idempotency: "none", max_concurrency: 1, lookup: null }[field];
}

/** True where a hint of the server would loosen a field, so that a careful value changes something. */
function loosensByHint(field: ProposedField, { readOnly, idempotent }: Facts): boolean {
  switch (field) {
    case "side_effects":
      return readOnly === true;
    case "idempotency":
      return idempotent === true;
    default:
      return true;
  }
}

/** What speaks against a value that loosens a contract, as a clause; undefined when nothing does. */
function againstProposal(
  field: ProposedField,
  value: JsonValue,
  { one, all }: { one: Facts; all: readonly Facts[] },
): string | undefined {
  switch (field) {
    case "side_effects":
      return actsBy(one) ?? actingName(one);
    case "idempotency":
      return value === "natural"
        ? repeatsBy(one)
        : "its description does not say that it honours dev.planwright/idempotencyKey";
    case "lookup":
      return againstLookup(value, one, all);
    case "max_concurrency":
      return undefined;
  }
}

/** Why a tool cannot tell whether a call happened, as a clause; undefined when it may. */
function againstLookup(value: JsonValue, one: Facts, all: readonly Facts[]): string | undefined {
  const { tool, arguments: args } = isJsonObject(value) ? value : {};
  const lookup = all.find((other) => other !== one && other.name === tool);
  if (!lookup) return "this server has no other tool of that name";
  if (!answersFound(lookup)) return `${lookup.name} does not declare an output with "found"`;
  if (!isRead(lookup) && (lookup.readOnly !== true || actsBy(lookup) !== undefined))
    return `nothing certain says that ${lookup.name} only reads`;
  const named = isJsonObject(args) ? Object.entries(args) : [];
  const fits = ([name, from]: [string, JsonValue]) =>
    lookup.accepted.includes(name) && one.accepted.some((own) => from === `<<arguments.${own}>>`);
  if (!named.every(fits) || !lookup.required.every((name) => named.some(([given]) => given === name)))
    return `its arguments do not lead from those of the call to those of ${lookup.name}`;
  return undefined;
}

/** A tool as the API describes it. */
interface ListedTool {
  name: string;
  server: string;
  description: string;
  inputSchema: unknown;
  outputSchema: unknown;
  annotations: unknown;
  contractReport: { fields: readonly { name: string; source: string; value: unknown }[] };
  calls: { count: number; failures: number; p99Ms: number | null };
}

/**
 * Suggestions for the tools of one server, as the API lists them. Fields that the operator has decided get none.
 * @param proposals - of a model, for tools of this server; absent: the rules alone
 */
export function suggestForServer(
  tools: readonly ListedTool[],
  server: string,
  proposals?: readonly ContractProposal[],
): SuggestedContract[] {
  return suggestContracts(tools.filter((tool) => tool.server === server).map(toSuggest), proposals);
}

function toSuggest(tool: ListedTool): ToolToSuggest {
  const { name, server, description, inputSchema, outputSchema, annotations, contractReport, calls } = tool;
  const fields = contractReport.fields.map((field) => ({ ...field, name: snakeCase(field.name) }));
  const decided = fields.filter(({ source }) => source === "override");
  const declared = fields.filter(({ source }) => SERVER_CONTRACTS.has(source));
  return {
    tool: {
      name,
      server,
      description,
      ...(isJsonObject(inputSchema) ? { inputSchema } : {}),
      ...(isJsonObject(outputSchema) ? { outputSchema } : {}),
      ...(isJsonObject(annotations) ? { annotations } : {}),
    },
    decided: new Set(decided.map(({ name }) => name)),
    declared: new Map(declared.map((field) => [field.name, field.value as JsonValue])),
    seen: calls,
  };
}

/** Sources of a field that are contracts of the server. */
const SERVER_CONTRACTS: ReadonlySet<string> = new Set(["meta", "top-level", "inputSchema"]);

/** The name of a field in the servers file. */
function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * The block of the servers file that accepts suggestions: contracts by tool name. Fields with something against them
 * are left out, and so are tools without any other.
 */
export function suggestedTools(
  suggestions: readonly {
    tool: string;
    fields: readonly { field: string; value: unknown; against: string | null }[];
  }[],
): Record<string, Record<string, unknown>> {
  return Object.fromEntries(
    suggestions.flatMap(({ tool, fields }) => {
      const kept = fields.filter(({ against }) => against === null);
      const contract = Object.fromEntries(kept.map(({ field, value }) => [field, value]));
      return kept.length === 0 ? [] : [[tool, contract]];
    }),
  );
}

/** Verbs of names that read; others, such as fetch, check, open, show or query, may act. */
const READING = words("get list search read find describe view count retrieve lookup");
/** First words of descriptions that read. */
const SAYS_READING =
  /^(gets?|lists?|search(es)?|reads?|finds?|describes?|views?|counts?|retrieves?|returns?|looks? up|fetch(es)?)\b/;
/** Kinds of searches whose name has the verb last, as in web_search. */
const SEARCHED = words("web image images news video videos local code docs paper papers");
/** Verbs that act wherever they stand in a name, a parameter or a value. */
const ACTING = words(
  "create delete remove update insert upsert write append replace modify edit send execute mark clear reset increment decrement acquire claim consume pop dequeue next ack acknowledge renew rotate redeem drop purge set add save toggle",
);
/** The first words of names of tools that act without doubt. */
const CERTAINLY_ACTING = words(
  "create delete remove update insert upsert write append replace modify edit send drop purge",
);
/** The same in descriptions, where nouns such as "order" and participles such as "created" are usual. */
const SAYS_ACTING =
  /\b(creat(e|es|ing)|delet(e|es|ing)|remov(e|es|ed|ing)|updat(e|es|ing)|inserts?|inserting|writ(e|es|ing)|append(s|ed|ing)?|overwrit(e|es|ing|ten)|replac(e|es|ing)|modif(y|ies|ying)|sends?|sending|execut(e|es|ing)|runs?|running|mark(s|ed|ing)?|clear(s|ed|ing)?|reset(s|ting)?|increment(s|ed|ing)?|acquir(e|es|ed|ing)|claim(s|ed|ing)?|consum(e|es|ed|ing)|pop(s|ped|ping)?|dequeu(e|es|ed|ing)|acknowledg(e|es|ed|ing)|lock(s|ed|ing)?|reserv(e|es|ed|ing)|charg(e|es|ed|ing)|trigger(s|ed|ing)?|start(s|ed|ing)?|enqueu(e|es|ed|ing)|schedul(e|es|ing)|register(s|ing)?|subscrib(e|es|ing)|publish(es|ing)?|uploads?|uploading|downloads?|downloading|sav(e|es|ed|ing)|stor(e|es|ing)|renew(s|ed|ing)?|rotat(e|es|ed|ing)|generat(e|es|ing)|advanc(e|es|ed|ing)|redeem(s|ed|ing)?|issues? (a|an|new)|side effects?)\b/;
/** Parameters with a text in which anything can be asked for. */
const FREE_FORM = words("sql statement command cmd script code mutation pipeline expression function");
/** Parameters that make a read act: it writes a file, calls an address, or does what they say. */
const MAKES_ACT = words("method body payload action operation webhook callback destination filename");
/** Languages in which a query may act. */
const FREE_LANGUAGE = /\b(sql|cypher|graphql|sparql|statements?|aggregations?|pipelines?|scripts?)\b/;

/** What the rules look at, read once. */
interface Facts {
  name: string;
  /** The words of the name, in lower case, without those that say nothing. */
  nameWords: string[];
  description: string;
  /** Parameters with their names, at any depth. */
  parameters: { name: string; schema: JsonObject }[];
  required: string[];
  /** The names of its own arguments. */
  accepted: string[];
  outputSchema: unknown;
  readOnly: boolean | undefined;
  destructive: boolean | undefined;
  idempotent: boolean | undefined;
  decided: ReadonlySet<string>;
  declared: ReadonlyMap<string, JsonValue>;
  seen: ToolToSuggest["seen"];
}

function factsOf(tools: readonly ToolToSuggest[]): Facts[] {
  const named = tools.map(({ tool }) => wordsOf(bareName(tool)));
  const shared =
    named.length > 1 && named.every(([first]) => first === named[0]?.[0]) ? named[0]?.[0] : undefined;
  return tools.map(({ tool, decided, declared, seen }, index) => {
    const all = named[index] ?? [];
    const own = new Set([...wordsOf(tool.server ?? ""), ...(shared === undefined ? [] : [shared])]);
    const [first = ""] = all;
    const isPrefix = all.length > 1 && own.has(first) && !READING.has(first) && !ACTING.has(first);
    const required = ownMember(tool.inputSchema, "required");
    const properties = ownMember(tool.inputSchema, "properties");
    const hint = (name: string) => {
      const value = ownMember(tool.annotations, name);
      return typeof value === "boolean" ? value : undefined;
    };
    return {
      name: bareName(tool),
      nameWords: isPrefix ? all.slice(1) : all,
      description: textOf(tool.description),
      parameters: parametersOf(tool.inputSchema, MAX_LEVELS),
      required: Array.isArray(required) ? required.filter((name) => typeof name === "string") : [],
      accepted: isJsonObject(properties) ? Object.keys(properties) : [],
      outputSchema: tool.outputSchema,
      readOnly: hint("readOnlyHint"),
      destructive: hint("destructiveHint"),
      idempotent: hint("idempotentHint"),
      decided: decided ?? new Set(),
      declared: declared ?? new Map(),
      seen,
    };
  });
}

/** A line of the rules. */
type RuleLine = Pick<SuggestedField, "field" | "value" | "reason">;

/** A read where everything agrees; an effect where a hint says "read" and something else says "act". */
function effectOf(facts: Facts): RuleLine[] {
  const [verb = ""] = facts.nameWords;
  const acting = CERTAINLY_ACTING.has(verb) ? `its name begins with "${verb}"` : mayActBy(facts);
  if (facts.readOnly === true && acting !== undefined) {
    const reason = `readOnlyHint says that it only reads, but ${acting}`;
    return [{ field: "side_effects", value: true, reason }];
  }
  if (!isRead(facts)) return [];
  const hint = facts.readOnly === true ? ", and so does its readOnlyHint" : "";
  const first = SAYS_READING.exec(facts.description)?.[0] ?? "";
  const reason = `its name (${facts.nameWords.slice(0, 4).join(" ")}) and its description ("${first} …") say that it reads${hint}; no word and no parameter says that it acts`;
  return [{ field: "side_effects", value: false, reason }];
}

function isRead(facts: Facts): boolean {
  const { nameWords, description } = facts;
  const [first = ""] = nameWords;
  const isSearch =
    nameWords.length > 1 &&
    nameWords.at(-1) === "search" &&
    nameWords.slice(0, -1).every((word) => SEARCHED.has(word));
  if (!READING.has(first) && !isSearch) return false;
  if (nameWords.some((word) => word === "and" || word === "or")) return false;
  return SAYS_READING.test(description) && actsBy(facts) === undefined;
}

/** What says that a tool may act, as a clause; undefined where nothing does. */
function actsBy(facts: Facts): string | undefined {
  const { nameWords, description, readOnly, destructive, declared, parameters } = facts;
  if (declared.get("side_effects") === true) return "its own contract says that it acts";
  if (readOnly === false) return "its readOnlyHint says that it acts";
  if (destructive === true) return "its destructiveHint says that it destroys";
  const verb = nameWords.find((word) => ACTING.has(word));
  if (verb !== undefined) return `its name has "${verb}"`;
  const said = SAYS_ACTING.exec(description)?.[0];
  if (said !== undefined) return `its description says "${said}"`;
  const isFree = FREE_LANGUAGE.test(description);
  const acting = parameters.find(
    (one) => !parameterReads(one) || (isFree && wordsOf(one.name).includes("query")),
  );
  return acting && `its parameter ${acting.name.slice(0, MAX_SHOWN_NAME)} may ask for an effect`;
}

const MAX_SHOWN_NAME = 64;

/** More words of names of tools that act; those that begin with a verb of reading have them as nouns. */
const ACTING_NAMES = words(
  "post publish pay charge transfer book buy sell order cancel close open approve reject deploy start stop restart run trigger launch kill merge push move copy rename upload download install uninstall invite assign submit archive restore enable disable lock unlock sync import export grant revoke ban block schedule notify subscribe unsubscribe refund void capture withdraw deposit sign apply put patch click type press fill drag navigate evaluate invoke call",
);

/** The word of a name that says that its tool may act, as a clause; undefined without one. */
function actingName({ nameWords }: Facts): string | undefined {
  if (READING.has(nameWords[0] ?? "")) return undefined;
  const acting = nameWords.find((word) => ACTING_NAMES.has(word) || SAYS_ACTING.test(word));
  return acting && `its name has "${acting}"`;
}

function parameterReads({ name, schema }: Facts["parameters"][number]): boolean {
  const named = wordsOf(name);
  if (named.some((word) => ACTING.has(word) || MAKES_ACT.has(word) || FREE_FORM.has(word))) return false;
  const isOutput = named.some((word) => word === "output" || word === "target");
  if (isOutput && named.some((word) => ["path", "file", "dir", "directory", "folder"].includes(word)))
    return false;
  if (actingValue(schema) !== undefined) return false;
  const isAboutLanguage = FREE_LANGUAGE.test(textOf(schema["description"]));
  return !isAboutLanguage && !SAYS_ACTING.test(textOf(schema["description"]));
}

/** What lets a caller ask for an effect, as a clause; undefined for a tool without such a parameter. */
function mayActBy({ parameters }: Facts): string | undefined {
  for (const { name, schema } of parameters) {
    const named = wordsOf(name);
    if (named.some((word) => FREE_FORM.has(word))) return `its parameter ${name} may ask for anything`;
    const acting = named.some((word) => MAKES_ACT.has(word)) ? actingValue(schema) : undefined;
    if (acting !== undefined) return `its parameter ${name} may be "${acting}"`;
  }
  return undefined;
}

/** A value of `enum` that is a verb of acting. */
function actingValue(schema: JsonObject): string | undefined {
  const { enum: values } = schema;
  if (!Array.isArray(values)) return undefined;
  return values
    .filter((value) => typeof value === "string")
    .find((value) => wordsOf(value).some((word) => ACTING.has(word)));
}

/** Verbs whose effect is a state, so that a repeat can leave it as it is. */
const STATE = words("set put write overwrite delete remove clear enable disable ensure upsert create");
const SAYS_KEY = "dev.planwright/idempotencykey";

function repeatOf(facts: Facts): RuleLine[] {
  const { description, nameWords, idempotent, readOnly } = facts;
  if (description.includes(SAYS_KEY)) {
    return [
      {
        field: "idempotency",
        value: "key",
        reason: "its description says that it honours the idempotency key",
      },
    ];
  }
  const says = /\bidempotent\b/.test(description) && !NOT_IDEMPOTENT.test(description);
  if (readOnly === true || idempotent === false || !(idempotent === true || says)) return [];
  const [verb = ""] = nameWords;
  if (!STATE.has(verb) || repeatsBy(facts) !== undefined) return [];
  const source = idempotent === true ? "its idempotentHint" : "its description";
  const reason = `${source} says that a repeat changes nothing more, and "${verb}" sets a state`;
  return [{ field: "idempotency", value: "natural", reason }];
}

const NOT_IDEMPOTENT = /\b(not|non|never|isn't)[ -]+idempotent\b/;
/** Verbs whose effect happens again with each call. */
const EACH_TIME = words(
  "send append add insert post publish charge pay notify toggle increment next pop claim acquire consume run execute",
);

/** What says that a repeat does something more, as a clause; undefined where nothing does. */
function repeatsBy(facts: Facts): string | undefined {
  const { nameWords, description, idempotent, declared, parameters } = facts;
  if (declared.get("idempotency") === "none") return "its own contract says that a repeat does more";
  if (idempotent === false) return "its idempotentHint says that a repeat changes more";
  const [verb = ""] = nameWords;
  if (EACH_TIME.has(verb)) return `its name begins with "${verb}", which happens each time`;
  const said =
    NOT_IDEMPOTENT.exec(description)?.[0] ??
    /\b(appends?|increments?|adds? to|toggles?|each time)\b/.exec(description)?.[0];
  if (said !== undefined) return `its description says "${said}"`;
  const isEnsured = /\b(ensures?|already exists?|overwrit(e|es)|no-op)\b/.test(description);
  if (verb === "create" && !isEnsured) return 'its name begins with "create", which may make another one';
  const adding = parameters.find(({ schema }) =>
    ["append", "increment", "toggle"].includes(actingValue(schema) ?? ""),
  );
  return (
    adding && `its parameter ${adding.name.slice(0, MAX_SHOWN_NAME)} may be "${actingValue(adding.schema)}"`
  );
}

/**
 * A look-up tool answers whether a call happened, as `{found, result}`. It must be the only read with this answer
 * about the same thing, and find it by the caller's own id.
 */
function lookupOf(facts: Facts, all: readonly Facts[]): RuleLine[] {
  if (facts.readOnly === true || isRead(facts) || repeatOf(facts).length > 0) return [];
  const thing = thingOf(facts);
  const found = all.filter((other) => {
    const isSame = thing !== "" && thingOf(other) === thing;
    const hasIds = other.required.length > 0 && other.required.every((name) => facts.required.includes(name));
    return other !== facts && answersFound(other) && isSame && hasIds && isRead(other);
  });
  const [lookup, ...others] = found;
  if (!lookup || others.length > 0) return [];
  const isId = (name: string) => ["id", "key", "number", "reference"].includes(wordsOf(name).at(-1) ?? "");
  if (!lookup.required.every(isId)) return [];
  const args = Object.fromEntries(lookup.required.map((name) => [name, `<<arguments.${name}>>`]));
  return [
    {
      field: "lookup",
      value: { tool: lookup.name, arguments: args },
      reason: `${lookup.name} reads the same thing by ${lookup.required.join(", ")} and answers with "found"; add settle_ms if you know after which time "not found" is final`,
    },
  ];
}

function answersFound({ outputSchema }: Facts): boolean {
  return isJsonObject(ownMember(ownMember(outputSchema, "properties"), "found"));
}

function thingOf({ nameWords }: Facts): string {
  return nameWords.slice(1).join(" ");
}

const ALONE =
  /\b(one (call|request) at a time|(cannot|must not|should not|do not|don't|never) (be )?(call|run|use|execute)(ed|d)?( it| this tool| this)? (concurrently|in parallel)|not thread[- ]safe)\b/;

function parallelismOf({ description }: Facts): RuleLine[] {
  const said = ALONE.exec(description)?.[0];
  if (said === undefined) return [];
  return [{ field: "max_concurrency", value: 1, reason: `its description says "${said}"` }];
}

/** Calls that say enough about how long a tool takes. */
const MIN_CALLS = 50;
/** Ten times what 99 in 100 calls took, in whole seconds, at least 10 s. */
const TIMES = 10;
const MIN_TIMEOUT_MS = 10_000;
/** A longer timeout than this is the default of steps. */
const MAX_TIMEOUT_MS = 60_000;

/** For reads alone: a timeout of an effect leaves a doubt. */
function timeoutOf(facts: Facts): RuleLine[] {
  const { seen } = facts;
  if (!seen || seen.p99Ms === null || seen.count < MIN_CALLS || seen.failures > 0 || !isRead(facts))
    return [];
  const value = Math.max(MIN_TIMEOUT_MS, Math.ceil((seen.p99Ms * TIMES) / 1_000) * 1_000);
  if (value >= MAX_TIMEOUT_MS) return [];
  const reason = `99 in 100 of its last ${seen.count} calls took at most ${Math.ceil(seen.p99Ms)} ms, and none failed`;
  return [{ field: "timeout_ms", value, reason }];
}

const MAX_LEVELS = 4;
const MAX_PARAMETERS = 1_000;

/** Parameters by name, also inside objects and lists of them. */
function parametersOf(schema: unknown, levels: number): Facts["parameters"] {
  if (!isJsonObject(schema) || levels === 0) return [];
  const properties = ownMember(schema, "properties");
  const here = isJsonObject(properties) ? Object.entries(properties).slice(0, MAX_PARAMETERS) : [];
  const alternatives = ["anyOf", "oneOf", "allOf"].flatMap((keyword) => {
    const list = ownMember(schema, keyword);
    return Array.isArray(list) ? list.slice(0, 20) : [];
  });
  return [
    ...here.map(([name, inner]) => ({ name, schema: isJsonObject(inner) ? inner : {} })),
    ...here.flatMap(([, inner]) => parametersOf(inner, levels - 1)),
    ...[ownMember(schema, "items"), ...alternatives].flatMap((inner) => parametersOf(inner, levels - 1)),
  ];
}

const MAX_TEXT = 4_096;

/** A text in lower case, from its first letter on. */
function textOf(value: unknown): string {
  if (typeof value !== "string") return "";
  const text = value.slice(0, MAX_TEXT).toLowerCase();
  const first = text.search(/[a-z]/);
  return first < 0 ? "" : text.slice(first);
}

/** The words of a name such as `getUserName`, `get_user_name` or `get-user-name`, in lower case. */
function wordsOf(name: string): string[] {
  return name
    .slice(0, MAX_TEXT)
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== "");
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}
