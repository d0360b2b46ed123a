import {
  canonicalLocale,
  isJsonObject,
  isTimezone,
  type JsonObject,
  type JsonValue,
  type PolicyInput,
  PolicySchema,
  type Priority,
  ProfileSchema,
} from "@planwright/plan";
import type { GivenContext, ModelLimits } from "@planwright/store";
import { BadInputError, BadPolicyError } from "../errors/api-error.ts";
import { checkJsonShape, requireFit } from "./json-patch.ts";
import { isWellFormed, parseTags, quoted } from "./text.ts";

/** Options of every new request: tags, replans and an answer after its plan, and limits of model calls. */
export interface RequestOptionsInput {
  /** Labels to find the request by, at most 10. Default: none. */
  tags?: readonly string[] | null;
  /** Its place among the waiting requests of the tenant. Default: normal. */
  priority?: Priority | null;
  /** Automatic replans after failures, 0 to 5. Default 0. */
  maxReplans?: number | null;
  /** Describe the results in words. Default false. */
  answer?: boolean | null;
  /** Limits of model calls. Default and maximum: the limits of the service. */
  limits?: LimitsInput | null;
}

/**
 * Parses the options. `payload` is their part of the payload of an idempotency key: nothing for absent
 * options.
 * @param service - the limits of the service
 * @throws {BadInputError}
 */
export function parseRequestOptions(input: RequestOptionsInput, service: ModelLimits | undefined) {
  const tags = parseTags(input.tags);
  const maxReplans = parseMaxReplans(input.maxReplans ?? 0);
  const wantsAnswer = input.answer === true;
  const modelLimits = parseModelLimits(input.limits, service);
  const after = maxReplans > 0 || wantsAnswer ? [{ maxReplans, wantsAnswer }] : [];
  const limits = input.limits ? [{ limits: input.limits }] : [];
  const tagged = tags.length > 0 ? [{ tags }] : [];
  const priority = input.priority ?? "normal";
  const prior = priority === "normal" ? [] : [{ priority }];
  return {
    options: { tags, priority, maxReplans, wantsAnswer, modelLimits },
    payload: [...after, ...limits, ...tagged, ...prior],
  };
}

/** Most automatic replans of one request. */
const MAX_REPLANS = 5;

/** @throws {BadInputError} for a number outside 0 to 5 */
function parseMaxReplans(count: number): number {
  if (Number.isInteger(count) && count >= 0 && count <= MAX_REPLANS) return count;
  throw new BadInputError(
    "maxReplans",
    `maxReplans is ${count}; 0 to ${MAX_REPLANS} are accepted`,
    "Give fewer; the mutation replan makes further ones.",
  );
}

/** Limits as a client gives them. Default: the limits of the service. */
type LimitsInput = { readonly [limit in keyof ModelLimits]?: number | null };

/** The setting of the service for each limit. */
const SETTINGS = {
  maxModelCalls: "REQUEST_MAX_MODEL_CALLS",
  maxTokens: "REQUEST_MAX_TOKENS",
  maxCostUsd: "REQUEST_MAX_COST_USD",
} as const satisfies Record<keyof ModelLimits, string>;

const NO_LIMITS: ModelLimits = { maxModelCalls: null, maxTokens: null, maxCostUsd: null };

/**
 * The limits of a request: those of the service, or lower ones.
 * @throws {BadInputError} for higher or negative ones
 */
export function parseModelLimits(
  input: LimitsInput | null | undefined,
  service: ModelLimits = NO_LIMITS,
): ModelLimits {
  const limitOf = (limit: keyof ModelLimits): number | null => {
    const requested = input?.[limit] ?? null;
    const max = service[limit];
    if (requested === null) return max;
    if (Number.isFinite(requested) && requested >= 0 && (max === null || requested <= max)) return requested;
    throw new BadInputError(
      `limits.${limit}`,
      `limits.${limit} is ${requested}; 0 ${max === null ? "or more is" : `to ${max} are`} accepted`,
      `Give less, or leave it out for ${max ?? "no limit"}; the operator sets ${SETTINGS[limit]}.`,
    );
  };
  return {
    maxModelCalls: limitOf("maxModelCalls"),
    maxTokens: limitOf("maxTokens"),
    maxCostUsd: limitOf("maxCostUsd"),
  };
}

/** Profile and policy as a client gives them with a sentence. */
export interface PolicyArguments {
  /** Name of an older system whose behaviour to use. Default: none. */
  profile?: string | null;
  /** Options that override the profile. Default: none. */
  policy?: unknown;
}

const OPTIONS = Object.keys(PolicySchema.shape);
const PartialPolicySchema = PolicySchema.partial();

/**
 * The policy options of a client; undefined without any.
 * @throws {BadPolicyError} with the option and the value
 * @throws {BadInputError} for a value that is nested too deep
 */
export function parsePolicy({ profile, policy }: PolicyArguments): PolicyInput | undefined {
  const options = parseOptions(policy ?? {});
  if (typeof profile !== "string") return Object.keys(options).length > 0 ? options : undefined;
  const named = ProfileSchema.safeParse(profile);
  if (!named.success)
    throw new BadPolicyError("profile", profile, `Give one of ${listed(ProfileSchema.options)}.`);
  if (options.profile !== undefined && options.profile !== named.data) {
    throw new BadPolicyError(
      "policy.profile",
      options.profile,
      `The argument profile is ${profile}: give only one of them.`,
    );
  }
  return { ...options, profile: named.data };
}

function parseOptions(policy: unknown): PolicyInput {
  checkJsonShape("policy", policy);
  if (!isPolicyInput(policy)) {
    throw new BadPolicyError("policy", policy, 'Give an object of options, such as {"maxParallel": 4}.');
  }
  const unknown = Object.keys(policy).find((name) => !OPTIONS.includes(name));
  if (unknown !== undefined) {
    const value: unknown = Object.getOwnPropertyDescriptor(policy, unknown)?.value;
    throw new BadPolicyError(`policy.${unknown.slice(0, 60)}`, value, `The options are ${listed(OPTIONS)}.`);
  }
  for (const [name, value] of Object.entries(policy)) {
    const [issue] = PartialPolicySchema.safeParse({ [name]: value }).error?.issues ?? [];
    if (issue) throw new BadPolicyError(`policy.${name}`, value, `Expected value: ${issue.message}.`);
  }
  return policy;
}

/** The caller checks the options themselves one by one. */
const isPolicyInput = (value: unknown): value is PolicyInput => isJsonObject(value);

const listed = (names: readonly string[]) => names.join(", ");

/** Time and place of the caller, as a client gives them. Default: the time of acceptance, in UTC. */
export interface ContextInput {
  now?: Date | null | undefined;
  timezone?: string | null | undefined;
  locale?: string | null | undefined;
  facts?: unknown;
}

/** Largest facts accepted, as JSON in UTF-8. */
export const MAX_FACTS_BYTES = 16_384;
/** Years of four digits, within a range that is useful for plans. */
const YEARS = { first: 1970, last: 2999 };

/** The context that a client gave; undefined without any. @throws {BadInputError} */
export function parseContext(input: ContextInput | null | undefined): GivenContext | undefined {
  const { now = null, timezone = null, locale = null, facts = null } = input ?? {};
  const given: GivenContext = {
    ...(now === null ? {} : { now: parseNow(now) }),
    ...(timezone === null ? {} : { timezone: parseTimezone(timezone) }),
    ...(locale === null ? {} : { locale: parseLocale(locale) }),
    ...(facts === null ? {} : { facts: parseFacts(facts) }),
  };
  return Object.keys(given).length > 0 ? given : undefined;
}

function parseNow(now: Date): Date {
  const year = now.getUTCFullYear();
  if (year >= YEARS.first && year <= YEARS.last) return now;
  throw refused(
    "now",
    `The year ${year} is not supported`,
    `Give a time in the years ${YEARS.first} to ${YEARS.last}.`,
  );
}

function parseTimezone(name: string): string {
  if (isTimezone(name)) return name;
  throw refused(
    "timezone",
    `Not a time zone: ${quoted(name)}`,
    'Give an IANA name, such as "Europe/Berlin" or "UTC".',
  );
}

function parseLocale(tag: string): string {
  const locale = canonicalLocale(tag);
  if (locale !== null) return locale;
  throw refused("locale", `Not a locale: ${quoted(tag)}`, 'Give a BCP 47 tag, such as "de-DE" or "en".');
}

function parseFacts(facts: unknown): JsonObject {
  checkJsonShape("context.facts", facts);
  if (!isJsonObject(facts)) {
    throw refused("facts", "The facts are not a JSON object", 'Give an object, such as {"userId": "u_17"}.');
  }
  requireFit("context.facts", facts);
  const sizeBytes = Buffer.byteLength(JSON.stringify(facts));
  if (sizeBytes > MAX_FACTS_BYTES) {
    throw refused(
      "facts",
      `The facts have ${sizeBytes} bytes; ${MAX_FACTS_BYTES} are accepted`,
      "Leave out what this request does not need.",
    );
  }
  if (hasBrokenText(facts)) {
    throw refused(
      "facts",
      "The facts contain text that is not well-formed",
      "Send it as UTF-8 without NUL characters.",
    );
  }
  return facts;
}

/** True when any text in the value is not well-formed. */
function hasBrokenText(value: JsonValue): boolean {
  if (typeof value === "string") return !isWellFormed(value);
  if (Array.isArray(value)) return value.some(hasBrokenText);
  return isJsonObject(value) && Object.entries(value).some((entry) => entry.some(hasBrokenText));
}

const refused = (field: string, message: string, remedy: string) =>
  new BadInputError(`context.${field}`, message, remedy);

/** Longest wait of a mutation for what it began, in milliseconds. */
const MAX_WAIT_MS = 30_000;

/** The argument for waiting. */
export interface WaitInput {
  /** Longest wait in milliseconds, 0 to 30,000. Default 0: no wait. */
  waitMs?: number | null;
}

/** @throws {BadInputError} for a number outside 0 to 30,000 */
export function parseWait({ waitMs }: WaitInput): number {
  const wait = waitMs ?? 0;
  if (Number.isInteger(wait) && wait >= 0 && wait <= MAX_WAIT_MS) return wait;
  throw new BadInputError(
    "waitMs",
    `waitMs is ${wait}; 0 to ${MAX_WAIT_MS} are accepted`,
    "Give less, and read request(requestId) or follow requestUpdated for longer waits.",
  );
}
