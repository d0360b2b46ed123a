import { isJsonObject, type PolicyInput, PolicySchema, ProfileSchema } from "@planwright/plan";
import { BadPolicyError } from "../errors/input-errors.ts";
import { checkJsonShape } from "./json-shape.ts";

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
