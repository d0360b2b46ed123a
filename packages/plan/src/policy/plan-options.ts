import { type Findings, type Where } from "../diagnostics/findings.ts";
import { isJsonObject, type JsonValue } from "../json/json.ts";
import { type Limits, type LimitsInput, LimitsSchema } from "./limits.ts";
import { type Policy, type PolicyInput, PolicySchema, policyOptions } from "./policy.ts";

const PartialPolicySchema = PolicySchema.partial();

/** The policy of a plan: what the host says wins over the document, a profile over defaults, an option over its own profile. */
export function readPolicy(
  document: JsonValue | undefined,
  host: PolicyInput | undefined,
  findings: Findings,
): Policy {
  const asked = checked(document, { keys: ["policy"] }, findings);
  const given = checked(host, { keys: ["policy"] }, findings);
  return PolicySchema.parse({ ...policyOptions(asked), ...policyOptions(given) });
}

function checked(policy: unknown, where: Where, findings: Findings): PolicyInput {
  if (policy === undefined) return {};
  const parsed = PartialPolicySchema.safeParse(policy);
  if (parsed.success && isPolicyInput(policy)) return policy;
  for (const issue of parsed.error?.issues ?? []) {
    const keys = [...(where.keys ?? []), ...issue.path.map(String)];
    findings.add("POLICY_INVALID", { keys }, { message: `${keys.join(".")}: ${issue.message}` });
  }
  return {};
}

function isPolicyInput(policy: unknown): policy is PolicyInput {
  return isJsonObject(policy);
}

/** The limits of a plan: the host's; a document may ask for tighter ones, never for looser. */
export function readLimits(host: LimitsInput | undefined, findings: Findings): Limits {
  return parseLimits(host ?? {}, findings) ?? LimitsSchema.parse({});
}

/** Limits as tight as both. */
export function tightenLimits(limits: Limits, document: JsonValue | undefined, findings: Findings): Limits {
  const asked = document === undefined ? undefined : parseLimits(document, findings);
  if (!asked || !isJsonObject(document)) return limits;
  const tighter = (name: keyof Limits) =>
    Object.hasOwn(document, name) ? Math.min(limits[name], asked[name]) : limits[name];
  return {
    maxSteps: tighter("maxSteps"),
    maxItems: tighter("maxItems"),
    maxBytes: tighter("maxBytes"),
    maxDepth: tighter("maxDepth"),
  };
}

function parseLimits(limits: unknown, findings: Findings): Limits | undefined {
  const parsed = LimitsSchema.safeParse(limits);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    const keys = ["limits", ...issue.path.map(String)];
    findings.add("LIMITS_INVALID", { keys }, { message: `${keys.join(".")}: ${issue.message}` });
  }
  return undefined;
}
