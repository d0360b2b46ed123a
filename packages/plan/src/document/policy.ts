import { z } from "zod";
import { CodedError, type DiagnosticCollector, type Where } from "../diagnostics/diagnostic.ts";
import { isJsonObject, type JsonValue } from "../json/json.ts";

/** Presets with the behaviour of five older systems. */
export const ProfileSchema = z.enum([
  "tool-chaining",
  "tool-planning",
  "ordered-calls",
  "orchestrator",
  "contract",
]);
export type Profile = z.infer<typeof ProfileSchema>;

/**
 * What happens to the rest of a plan when a step fails. `auto`: only read-only tools -> fail-forward,
 * otherwise fail-fast.
 */
export const FailureModeSchema = z.enum(["fail-fast", "fail-forward", "run-dependents"]);
export type FailureMode = z.infer<typeof FailureModeSchema>;

/** See `approvalTimeoutMs` of {@link PolicySchema}: 7 days. */
const DEFAULT_APPROVAL_TIMEOUT_MS = 604_800_000;

/**
 * The behaviour of a plan where the plan language allows a choice. Code sets it and it is stored with the
 * plan; a model never chooses it.
 */
export const PolicySchema = z.strictObject({
  profile: ProfileSchema.optional(),
  onStepFailure: z.enum(["auto", ...FailureModeSchema.options]).default("auto"),
  /** A reference to a missing field of a completed step. */
  onMissingField: z.enum(["error", "null", "keep"]).default("error"),
  /** A reference to a step that produced no output (failed, skipped). */
  onUnresolvedStep: z.enum(["error", "keep"]).default("error"),
  /**
   * Steps that wait for each other. `break-fewest`: when nothing else can run, the step with the fewest unmet
   * dependencies starts. `run-together`: no step of the cycle waits for another.
   */
  onCycle: z.enum(["error", "break-fewest", "run-together"]).default("error"),
  /** A dependency, by contract or by name, that the plan does not contain. */
  onAbsentDependency: z.enum(["error", "ignore", "insert"]).default("error"),
  /**
   * A tool has changed since the plan was made: its steps fail with TOOL_CHANGED, or continue with the
   * changed tool.
   */
  onToolChanged: z.enum(["error", "continue"]).default("error"),
  /**
   * Steps with side effects that a replan adds or changes: an operator must approve their resolved arguments,
   * or they run at once. They run only when the operator's setting REPLANNED_EFFECTS also allows it: a plan
   * may be stricter than the setting, never less strict. Steps that failed with an unknown outcome, and lists
   * with completed items, always need approval.
   */
  replannedEffects: z.enum(["approve", "run"]).default("approve"),
  /** Object outputs of dependencies become missing arguments; explicit arguments win. */
  mergeDependencyOutputs: z.boolean().default(false),
  /** `first`: tools marked as navigation start at once, in parallel with everything else. */
  navigation: z.enum(["honour-dependencies", "first"]).default("honour-dependencies"),
  /**
   * Mode of tools without contract and annotations. `sequential` means sequential-only, except with
   * readOnlyHint.
   */
  unannotated: z.enum(["sequential", "parallel"]).default("sequential"),
  maxParallel: z.number().int().min(1).max(256).default(16),
  /**
   * Timeout of a call, in milliseconds, when its step has none; a contract may limit it further. See
   * `callTimeout`.
   */
  stepTimeoutMs: z.number().int().min(1).max(3_600_000).default(60_000),
  /**
   * How long a call waits for a tool server that cannot be reached, in milliseconds from the first failed
   * try, at most one day; the plan's deadline ends it earlier. 0: the step fails at once. Nothing is sent
   * meanwhile, so no attempt of `retry` is used.
   */
  unreachableMs: z.number().int().min(0).max(86_400_000).default(600_000),
  /**
   * How long an approval may take from its question, in milliseconds, at most one year: then its step fails with
   * APPROVAL_EXPIRED. A doubt and a pause have no limit. The time in which only a person can continue the plan
   * does not count for its deadline.
   */
  approvalTimeoutMs: z.number().int().min(1).max(31_536_000_000).default(DEFAULT_APPROVAL_TIMEOUT_MS),
});
export type Policy = z.infer<typeof PolicySchema>;
/** Policy as input: each option is optional. */
export type PolicyInput = z.input<typeof PolicySchema>;

/** The options that each profile sets; all others keep their defaults. */
const PROFILE_OPTIONS: Readonly<Record<Profile, Omit<PolicyInput, "profile">>> = {
  // One call at a time; the first failure stops the plan; an unresolved reference stays as text.
  "tool-chaining": {
    onStepFailure: "fail-fast",
    onMissingField: "keep",
    onUnresolvedStep: "keep",
    maxParallel: 1,
  },
  // All steps that can continue do so; a missing field is null.
  "tool-planning": { onStepFailure: "fail-forward", onMissingField: "null", unannotated: "parallel" },
  // Every call of a turn is made: calls keep their order, and a failure stops no other call.
  "ordered-calls": {
    onStepFailure: "run-dependents",
    onCycle: "run-together",
    onAbsentDependency: "ignore",
    unannotated: "parallel",
  },
  orchestrator: {
    onStepFailure: "fail-forward",
    onCycle: "break-fewest",
    onAbsentDependency: "ignore",
    mergeDependencyOutputs: true,
    navigation: "first",
    unannotated: "parallel",
    stepTimeoutMs: 30_000,
  },
  // The contracts of tools decide; calls of a tool that declares nothing run one at a time.
  contract: { unannotated: "sequential" },
};

/** The options that a profile sets. */
export function profileOptions(profile: Profile): Omit<PolicyInput, "profile"> {
  return PROFILE_OPTIONS[profile];
}

/**
 * A complete policy: a given option overrides the profile, the profile overrides the default.
 * @throws {PolicyInvalidError} for an unknown option or value
 */
export function resolvePolicy(policy: PolicyInput = {}): Policy {
  const given = PolicySchema.partial().safeParse(policy);
  if (!given.success) {
    const problems = given.error.issues.map(({ path, message }) => [...path.map(String), message].join(": "));
    throw new PolicyInvalidError({ problems });
  }
  return PolicySchema.parse(policyOptions(policy));
}

/** The options that a policy and its profile set; other options are absent. */
export function policyOptions(policy: PolicyInput): PolicyInput {
  const preset = policy.profile === undefined ? {} : PROFILE_OPTIONS[policy.profile];
  const given = Object.fromEntries(Object.entries(policy).filter(([, value]) => value !== undefined));
  return { ...preset, ...given };
}

/** How long an approval may take, in milliseconds: the default for plans that were stored before the option. */
export function approvalTimeoutOf(policy: Partial<Pick<Policy, "approvalTimeoutMs">>): number {
  return policy.approvalTimeoutMs ?? DEFAULT_APPROVAL_TIMEOUT_MS;
}

/**
 * True when an option has the value that the policy's profile sets, so the author of the plan did not choose
 * it.
 */
export function isOfProfile(policy: Policy, option: Exclude<keyof PolicyInput, "profile">): boolean {
  return policy.profile !== undefined && PROFILE_OPTIONS[policy.profile][option] === policy[option];
}

/** A policy with an unknown option or an invalid value. */
export class PolicyInvalidError extends CodedError<{ problems: string[] }> {
  readonly code = "POLICY_INVALID";
  readonly retryable = false;
  constructor(facts: { problems: string[] }) {
    super(`The policy is invalid: ${facts.problems.join("; ")}`, facts);
  }
}

/**
 * Limits of one plan. A host may raise or lower the defaults; a plan stores the limits with which it was
 * accepted.
 */
export const LimitsSchema = z.strictObject({
  /** Maximum number of steps. */
  maxSteps: z.number().int().min(1).max(1_000_000).default(1_000),
  /** Maximum number of items of one forEach. */
  maxItems: z.number().int().min(1).max(1_000_000).default(10_000),
  /** Maximum size of the plan document as JSON text in UTF-8, in bytes. */
  maxBytes: z.number().int().min(1).max(1_073_741_824).default(1_048_576),
  /** Maximum nesting of objects and arrays in arguments and answers. */
  maxDepth: z.number().int().min(1).max(1_000).default(64),
});
export type Limits = z.infer<typeof LimitsSchema>;
/** Limits as input: each one is optional. */
export type LimitsInput = z.input<typeof LimitsSchema>;

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

/** Default upper limit for a step's own timeout, in milliseconds; a setting of the service overrides it. */
export const MAX_STEP_TIMEOUT_MS = 600_000;

/** All values that limit the timeout of a call, in milliseconds. */
interface CallTimeoutFacts {
  /** `timeoutMs` of the step. */
  stepMs: number | undefined;
  /** `stepTimeoutMs` of the policy. */
  policyMs: number;
  /** `timeout_ms` of the tool's contract. */
  contractMs: number | undefined;
  /** Upper limit for a step's own timeout. */
  maxStepMs: number;
}

/** The timeout of a call, in milliseconds, and what limits it below its step's own timeout. */
interface CallTimeout {
  timeoutMs: number;
  cutBy?: "contract" | "maximum";
}

/**
 * The timeout of a call. A step's value overrides the policy, up to the larger of the maximum and the policy.
 * The contract limits both, because operator and server declare it for the tool itself. Pure.
 */
export function callTimeout({ stepMs, policyMs, contractMs, maxStepMs }: CallTimeoutFacts): CallTimeout {
  const allowedMs = stepMs === undefined ? policyMs : Math.min(stepMs, Math.max(policyMs, maxStepMs));
  const timeoutMs = Math.min(allowedMs, contractMs ?? Number.POSITIVE_INFINITY);
  if (stepMs === undefined || timeoutMs === stepMs) return { timeoutMs };
  return { timeoutMs, cutBy: timeoutMs < allowedMs ? "contract" : "maximum" };
}
