import { redactText } from "../redaction/redact-text.ts";

/**
 * Dependencies of a service, by name. A check rejects, or resolves to false, while the dependency does not
 * work.
 */
export type HealthChecks = Readonly<Record<string, () => Promise<unknown>>>;

/** The problems, by name of the check; empty when all checks pass. */
export type FailingChecks = Record<string, string>;

/**
 * Runs all checks at once. A check that gives no answer within `timeoutMs` fails; the others do not wait for
 * it.
 */
export async function runChecks(checks: HealthChecks, timeoutMs: number): Promise<FailingChecks> {
  const failing: FailingChecks = {};
  const runs = Object.entries(checks).map(async ([name, check]) => {
    const problem = await problemOf(check, timeoutMs);
    if (problem !== undefined) failing[name] = problem;
  });
  await Promise.all(runs);
  return failing;
}

async function problemOf(check: () => Promise<unknown>, timeoutMs: number): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`gave no answer within ${timeoutMs} ms`), timeoutMs);
  });
  const answer = Promise.resolve()
    .then(check)
    .then(
      (result) => (result === false ? "is not ready" : undefined),
      (error: unknown) => redactText(error instanceof Error ? error.message : "failed"),
    );
  return Promise.race([answer, deadline]).finally(() => clearTimeout(timer));
}
