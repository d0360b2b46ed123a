import { type DiagnosticCollector, type Where } from "../diagnostics/diagnostic-collector.ts";
import { isJsonObject, type JsonValue } from "../json/json.ts";
import { type Limits, type LimitsInput, LimitsSchema } from "./limits.ts";
import { type Policy, type PolicyInput, PolicySchema, policyOptions } from "./policy.ts";

const PartialPolicySchema = PolicySchema.partial();

/**
 * The policy of a plan: the host's options override those of the document, a profile overrides defaults, an
 * option overrides its profile.
 */
export function readPolicy(
  document: JsonValue | undefined,
  host: PolicyInput | undefined,
  diagnostics: DiagnosticCollector,
): Policy {
  const documentPolicy = checked(document, { keys: ["policy"] }, diagnostics);
  const hostPolicy = checked(host, { keys: ["policy"] }, diagnostics);
  return PolicySchema.parse({ ...policyOptions(documentPolicy), ...policyOptions(hostPolicy) });
}

function checked(policy: unknown, where: Where, diagnostics: DiagnosticCollector): PolicyInput {
  if (policy === undefined) return {};
  const parsed = PartialPolicySchema.safeParse(policy);
  if (parsed.success && isPolicyInput(policy)) return policy;
  for (const issue of parsed.error?.issues ?? []) {
    const keys = [...(where.keys ?? []), ...issue.path.map(String)];
    diagnostics.add("POLICY_INVALID", { keys }, { message: `${keys.join(".")}: ${issue.message}` });
  }
  return {};
}

function isPolicyInput(policy: unknown): policy is PolicyInput {
  return isJsonObject(policy);
}

/** The limits of a plan: the host's limits; a document may only tighten them. */
export function readLimits(host: LimitsInput | undefined, diagnostics: DiagnosticCollector): Limits {
  return parseLimits(host ?? {}, diagnostics) ?? LimitsSchema.parse({});
}

/** The tighter value of each limit. */
export function tightenLimits(
  limits: Limits,
  document: JsonValue | undefined,
  diagnostics: DiagnosticCollector,
): Limits {
  const documentLimits = document === undefined ? undefined : parseLimits(document, diagnostics);
  if (!documentLimits || !isJsonObject(document)) return limits;
  const tighter = (name: keyof Limits) =>
    Object.hasOwn(document, name) ? Math.min(limits[name], documentLimits[name]) : limits[name];
  return {
    maxSteps: tighter("maxSteps"),
    maxItems: tighter("maxItems"),
    maxBytes: tighter("maxBytes"),
    maxDepth: tighter("maxDepth"),
  };
}

function parseLimits(limits: unknown, diagnostics: DiagnosticCollector): Limits | undefined {
  const parsed = LimitsSchema.safeParse(limits);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    const keys = ["limits", ...issue.path.map(String)];
    diagnostics.add("LIMITS_INVALID", { keys }, { message: `${keys.join(".")}: ${issue.message}` });
  }
  return undefined;
}
