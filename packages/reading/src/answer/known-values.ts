import {
  containsAsWords,
  exactAsText,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type PlanningContext,
  secretNameOf,
  type ToolDescriptor,
} from "@planwright/plan";
import { type DateValue, dateValueOf, fitsMoment } from "../moment/date-values.ts";
import { type FoundMoments, findMoments } from "../moment/find-moments.ts";
import type { SaidMoment } from "../moment/moment.ts";

/** The facts that a caller sends with each request. Their values are not invented by a model. */
export interface FactValues extends QueryWords {
  /** True when the facts contain a value, alone or inside a text. */
  gives(value: string | number): boolean;
  /** Names of secrets in the facts, written `secret://name`. */
  readonly secrets: ReadonlySet<string>;
}

/** Indexes the values of the facts; their names do not count. */
export function createFactValues(facts: JsonObject | undefined): FactValues {
  const values = new Set<string | number>();
  const secrets = new Set<string>();
  const add = (given: JsonValue): void => {
    const value = exactAsText(given);
    if (typeof value === "string") {
      values.add(value);
      const secret = secretNameOf(value);
      if (secret !== undefined) secrets.add(secret);
    } else if (typeof value === "number") values.add(value);
    else if (Array.isArray(value)) value.forEach(add);
    else if (isJsonObject(value)) Object.values(value).forEach(add);
  };
  add(facts ?? {});
  const words = createQueryWords([...values].join("\n,\n"));
  const contains = (text: string): boolean => values.size > 0 && words.contains(text);
  return {
    contains,
    gives: (value) => values.has(value) || (typeof value === "string" && contains(value)),
    secrets,
  };
}

/** The days and moments that the words of a request mean. */
export interface MomentValues extends FoundMoments {
  /** True when a date is a possible meaning of the words of one moment. */
  fits(date: DateValue, moment: SaidMoment): boolean;
  /** True for a value that is the meaning of words in the request. */
  gives(value: string | number): boolean;
}

/** Computes them; none without a request or when the current day is unknown. */
export function createMomentValues(
  query: string | undefined,
  context: PlanningContext | undefined,
): MomentValues {
  if (query === undefined || !context)
    return { moments: [], isOpen: false, fits: () => false, gives: () => false };
  const said = findMoments(query, context);
  const fits = (date: DateValue, { readings, alsoReadings }: SaidMoment): boolean =>
    [...readings, ...alsoReadings].some((reading) => fitsMoment(date, reading, context.timezone));
  return {
    ...said,
    fits,
    gives(value) {
      const date = said.moments.length > 0 ? dateValueOf(value) : null;
      return date !== null && said.moments.some((moment) => fits(date, moment));
    },
  };
}

/** Checks which texts a request contains. */
export interface QueryWords {
  /** True when the query contains the text as complete words. Case and white space do not matter. */
  contains(text: string): boolean;
}

/** Indexes a query; without a query nothing is contained. */
export function createQueryWords(query: string | undefined): QueryWords {
  const plain = normalText(query ?? "");
  const spoken = plain.replace(/ at /g, "@").replace(/ dot /g, ".");
  return {
    contains(text) {
      const wanted = normalText(text);
      return wanted !== "" && (containsAsWords(plain, wanted) || containsAsWords(spoken, wanted));
    },
  };
}

/** The normal form for comparison: lower case, plain quotes, single spaces. */
export function normalText(text: string): string {
  return text
    .normalize("NFKC")
    .replace(/[‘’]/g, "'")
    .replace(/[“”]/g, '"')
    .replace(/\s+/g, " ")
    .trim()
    .toLowerCase();
}

/** Hosts that do not exist (RFC 2606), and hosts that models invent. */
const SAMPLE_HOST =
  /(?:^|\.)(?:(?:example|domain|sample|placeholder|yourdomain|yourcompany|mydomain|mycompany|email|mail|test|company|somewhere|foo|bar|acme|website|mysite|yoursite)\.(?:com|org|net|edu|io|co)|[a-z0-9-]+\.(?:example|invalid|test|localhost))$/i;
const SAMPLE_LOCAL =
  /^(?:user|username|name|your[._-]?(?:name|e?mail)|e?mail|john[._-]?doe|jane[._-]?doe|recipient|sender|someone|somebody|nobody|customer|test|foo|bar|example|sample|placeholder)[0-9]{0,3}$/i;

/**
 * Texts that models write without a value, in addition to the placeholders that every reader of plans
 * refuses.
 */
const SAMPLES: readonly RegExp[] = [
  /^(?:\.{3}|…|<[^<>]{1,80}>|\[(?:your|insert|enter|the)\b[^[\]]{0,80}\])$/i,
  /^(?:\$|%|__?|@)?[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_(?:ID|KEY|TOKEN|EMAIL)(?:%|__?)?$/,
  /^(?:john|jane) (?:doe|smith)$/i,
  /^(?:507f1f77bcf86cd7994390[0-9a-f]{2}|123e4567-e89b-12d3-a456-426614174000|550e8400-e29b-41d4-a716-446655440000)$/i,
  /^(?:0{8}-0{4}-0{4}-0{4}-0{12}|0{24}|1234567890abcdef(?:12345678)?)$/i,
  /^(?:value|id|result|output|author_?id|user_?id|blog_?id) (?:from|of|returned by) (?:the )?(?:previous|prior|last|first|step|above)\b/i,
  /^sk-(?:x+|\.+|\*+|\.{3}|your.*|1234.*|abc.*)$/i,
];
const SAMPLE_TEXT = /\[(?:your|insert|recipient|sender|customer|company)(?:'s)?[ _-][^[\]\n]{1,60}\]/i;
const MAX_LENGTH = 200;

/** True for documentation samples and gaps to fill in. */
export function isSampleValue(text: string): boolean {
  const trimmed = text.trim();
  if (trimmed.length <= MAX_LENGTH && SAMPLES.some((pattern) => pattern.test(trimmed))) return true;
  return SAMPLE_TEXT.test(text);
}

/** An e-mail or web address. */
interface Address {
  readonly text: string;
  readonly host: string;
  /** Local part of an e-mail address. */
  readonly local?: string;
}

const EMAIL = /^(?:mailto:)?([A-Za-z0-9._%+-]{1,64})@([A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8})$/;
const NAMED_EMAIL = /<([^<>\s]{3,200})>$/;
const URL_HOST = /^https?:\/\/(?:[^/?#@\s]{1,100}@)?([A-Za-z0-9.-]{1,253})(?:[:/?#]|$)/i;

/** The addresses in a text that contains only addresses, separated by commas; otherwise none. */
export function addressesIn(text: string): Address[] {
  if (text.length > 2_000) return [];
  const found = text.split(/[,;]/).map((part) => addressOf(part.trim()));
  return found.every((address) => address !== undefined) ? found : [];
}

function addressOf(text: string): Address | undefined {
  const email = EMAIL.exec(NAMED_EMAIL.exec(text)?.[1] ?? text);
  if (email?.[1] !== undefined && email[2] !== undefined)
    return { text: `${email[1]}@${email[2]}`, local: email[1], host: email[2] };
  const host = URL_HOST.exec(text)?.[1];
  return host === undefined ? undefined : { text, host };
}

/** True for an address that is most likely invented. */
export function isSampleAddress({ host, local }: Address): boolean {
  return SAMPLE_HOST.test(host) || (local !== undefined && SAMPLE_LOCAL.test(local));
}

/** Maximum number of parts of one schema that are read. */
const MAX_PARTS = 20_000;
const NONE: ReadonlySet<string | number> = new Set();

/** The values that schemas of tools list. */
export interface SchemaWords {
  of(tool: ToolDescriptor | undefined): ReadonlySet<string | number>;
}

/**
 * The texts and numbers that schemas list as values (`enum`, `const`, `default`), collected once for each
 * tool. `examples` do not count, because models copy them.
 */
export function createSchemaWords(): SchemaWords {
  const known = new Map<ToolDescriptor, ReadonlySet<string | number>>();
  return {
    of(tool) {
      if (!tool?.inputSchema) return NONE;
      let words = known.get(tool);
      if (!words) {
        words = gather(tool.inputSchema);
        known.set(tool, words);
      }
      return words;
    },
  };
}

function gather(schema: JsonValue): Set<string | number> {
  const words = new Set<string | number>();
  const pending: JsonValue[] = [schema];
  let seen = 0;
  for (let part = pending.pop(); part !== undefined && seen < MAX_PARTS; part = pending.pop()) {
    seen++;
    if (Array.isArray(part)) pending.push(...part.slice(0, MAX_PARTS));
    if (!isJsonObject(part)) continue;
    for (const [name, value] of Object.entries(part)) {
      if (name === "enum" || name === "const" || name === "default") {
        for (const word of Array.isArray(value) ? value : [value])
          if (typeof word === "string" || typeof word === "number") words.add(exactAsText(word));
      }
      if (typeof value === "object" && value !== null) pending.push(value);
    }
  }
  return words;
}
