import { z } from "zod";
import { PolicyInvalidError } from "./policy-error.ts";

/** Presets that give the behaviour of five older systems at once. */
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

/**
 * How a plan behaves where the plan language leaves a choice. Code fills it in and it is stored with the
 * plan; a model never chooses it.
 */
export const PolicySchema = z.strictObject({
  profile: ProfileSchema.optional(),
  onStepFailure: z.enum(["auto", ...FailureModeSchema.options]).default("auto"),
  /** A reference into a completed step finds no such field. */
  onMissingField: z.enum(["error", "null", "keep"]).default("error"),
  /** A reference to a step that produced no output (failed, skipped). */
  onUnresolvedStep: z.enum(["error", "keep"]).default("error"),
  /**
   * Steps that wait for each other. `break-fewest`: when nothing else can run, the one with the fewest unmet
   * dependencies goes. `run-together`: none of them waits for another.
   */
  onCycle: z.enum(["error", "break-fewest", "run-together"]).default("error"),
  /** A dependency, by contract or by name, that the plan does not contain. */
  onAbsentDependency: z.enum(["error", "ignore", "insert"]).default("error"),
  /**
   * A tool has changed since the plan was made: its steps fail with TOOL_CHANGED, or continue with the tool
   * as it is now.
   */
  onToolChanged: z.enum(["error", "continue"]).default("error"),
  /**
   * Steps with side effects that a replan adds or changes: an operator must approve their resolved arguments,
   * or they run at once. They run only where the operator's setting REPLANNED_EFFECTS says so too: a plan may
   * be stricter than that, and never less strict. What failed with an unknown outcome, and lists of which
   * items completed, are always asked about.
   */
  replannedEffects: z.enum(["approve", "run"]).default("approve"),
  /** Object outputs of dependencies become missing arguments; explicit arguments win. */
  mergeDependencyOutputs: z.boolean().default(false),
  /** `first`: tools marked as navigation start at once beside everything else. */
  navigation: z.enum(["honour-dependencies", "first"]).default("honour-dependencies"),
  /** Tools without contract and annotations. `sequential` = sequential-only unless readOnlyHint. */
  unannotated: z.enum(["sequential", "parallel"]).default("sequential"),
  maxParallel: z.number().int().min(1).max(256).default(16),
  /**
   * Longest a call may take, in milliseconds, where its step says nothing; a contract may bound it further.
   * See `callTimeout`.
   */
  stepTimeoutMs: z.number().int().min(1).max(3_600_000).default(60_000),
  /**
   * How long a call waits for a tool server that cannot be reached, in milliseconds from when that was first
   * seen, one day at most; the plan's deadline ends it earlier. 0: its step fails at once. Nothing was sent
   * meanwhile, so no attempt of `retry` is used up.
   */
  unreachableMs: z.number().int().min(0).max(86_400_000).default(600_000),
});
export type Policy = z.infer<typeof PolicySchema>;
/** Policy as a caller gives it: each option optional. */
export type PolicyInput = z.input<typeof PolicySchema>;

/** What each profile sets; everything else keeps its default. */
const PROFILE_OPTIONS: Readonly<Record<Profile, Omit<PolicyInput, "profile">>> = {
  // One call at a time; the first failure stops; a reference that gives nothing stays as text.
  "tool-chaining": {
    onStepFailure: "fail-fast",
    onMissingField: "keep",
    onUnresolvedStep: "keep",
    maxParallel: 1,
  },
  // All steps that can continue do; a missing field is null.
  "tool-planning": { onStepFailure: "fail-forward", onMissingField: "null", unannotated: "parallel" },
  // Every call of a turn is made: calls keep their order, and a failure stops none of them.
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
 * A complete policy: an option that is given wins over the profile, the profile over the default.
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

/** What a policy sets, its profile included; options it does not set are absent. */
export function policyOptions(policy: PolicyInput): PolicyInput {
  const preset = policy.profile === undefined ? {} : PROFILE_OPTIONS[policy.profile];
  const given = Object.fromEntries(Object.entries(policy).filter(([, value]) => value !== undefined));
  return { ...preset, ...given };
}

/**
 * True where an option has the value that the policy's profile sets, so that the author of the plan did not
 * choose it.
 */
export function isOfProfile(policy: Policy, option: Exclude<keyof PolicyInput, "profile">): boolean {
  return policy.profile !== undefined && PROFILE_OPTIONS[policy.profile][option] === policy[option];
}
