import type { Diagnostic } from "./diagnostic.ts";
import { type Policy, type PolicyInput, PolicySchema, type Profile } from "./policy.ts";

/** What each profile sets; an option given beside it wins. */
export const PROFILES: Readonly<Record<Profile, PolicyInput>> = {
  "tool-chaining": {
    onStepFailure: "fail-fast",
    onMissingField: "keep",
    onUnresolvedStep: "keep",
    maxParallel: 1,
  },
  "tool-planning": { onStepFailure: "fail-forward", onMissingField: "null", unannotated: "parallel" },
  "ordered-calls": { onStepFailure: "run-dependents", onAbsentDependency: "ignore", unannotated: "parallel" },
  orchestrator: {
    onStepFailure: "run-dependents",
    onUnresolvedStep: "keep",
    mergeDependencyOutputs: true,
    navigation: "first",
    stepTimeoutMs: 30_000,
    unannotated: "parallel",
  },
  contract: { onStepFailure: "auto", unannotated: "sequential" },
};

/** A policy with every option decided: defaults, then the profile's row, then what was given. */
export function resolvePolicy(
  input: unknown,
): { ok: true; policy: Policy } | { ok: false; diagnostics: Diagnostic[] } {
  const given = PolicySchema.partial().safeParse(input ?? {});
  const issues = given.success ? [] : given.error.issues;
  if (!given.success) {
    return {
      ok: false,
      diagnostics: issues.map((issue) => ({
        code: "POLICY_INVALID",
        severity: "error" as const,
        path: ["policy", ...issue.path.map(String)].join("."),
        message: `policy: ${issue.message}`,
      })),
    };
  }
  const raw = Object.fromEntries(
    Object.entries(typeof input === "object" && input !== null ? input : {}).filter(
      ([, value]) => value !== undefined,
    ),
  );
  const row = given.data.profile ? PROFILES[given.data.profile] : {};
  return { ok: true, policy: PolicySchema.parse({ ...row, ...raw }) };
}
