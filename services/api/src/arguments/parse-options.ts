import { isJsonObject, type PolicyInput, PolicySchema, type Priority, ProfileSchema } from "@planwright/plan";
import type { ModelLimits } from "@planwright/store";
import { BadInputError, BadPolicyError } from "../errors/api-error.ts";
import { checkJsonShape } from "./json-patch.ts";
import { parseTags } from "./text.ts";

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
