import { commandLine } from "@planwright/client";
import { type StepRow } from "../../data/request-facts.ts";

/** The next command for a step in a terminal. */
export function cliCommand(
  requestId: string,
  planId: string,
  { id, key, status, approvalHash }: Pick<StepRow, "id" | "key" | "status" | "approvalHash">,
): string {
  const planwright = (...words: string[]): string => commandLine("planwright", ...words);
  if (status === "WAITING_APPROVAL" && approvalHash !== null)
    return planwright("approve", requestId, id, "--hash", approvalHash);
  if (status === "IN_DOUBT") return planwright("resolve", requestId, key, "--retry");
  if (status === "COMPLETED") return planwright("output", `${planId}/steps/${key}`);
  if (status === "FAILED") return planwright("retry", requestId, "--from", id);
  return planwright("debug", requestId);
}

const STEP_QUERY =
  "query ($planId: ID!, $stepId: ID!) { plan(id: $planId) { stepsConnection(first: 50, filter: { stepId: $stepId }) " +
  "{ nodes { key status tool arguments resolvedArguments output error { code message remedy } " +
  "attempts { attempt outcome startedAt endedAt } } } } }";

/**
 * A call of the API that reads the step. The API key comes from a variable of the shell, so it is not copied.
 */
export function curlCommand(apiUrl: string, planId: string, stepId: string): string {
  const body = JSON.stringify({ query: STEP_QUERY, variables: { planId, stepId } });
  return [
    commandLine("curl", "-sS", apiUrl),
    "-H 'content-type: application/json'",
    '-H "authorization: Bearer $PLANWRIGHT_API_KEY"',
    commandLine("-d", body),
  ].join(" ");
}
