import { z } from "zod";
import { PolicyInvalidError } from "./policy-error.ts";

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
   * How long a plan waits for a person, in milliseconds, at most one year: an approval from its question, after
   * which its step fails with APPROVAL_EXPIRED; a doubt or a pause that nothing else would end, after which
   * the plan is EXPIRED. This time does not count for the plan's deadline.
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

/** How long a plan waits for a person, in milliseconds: the default for plans that were stored before the option. */
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
