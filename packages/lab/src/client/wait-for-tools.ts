import { setTimeout as delay } from "node:timers/promises";
import { createClient, graphql } from "@planwright/client";
import { CodedError } from "@planwright/plan";

const TOOLS = graphql("{ getAvailableTools { name } }");
const TIMEOUT_MS = 60_000;
const POLL_EVERY_MS = 100;

/** The API still does not know these tools after the timeout. */
export class ToolsNotKnownError extends CodedError<{ missing: string[] }> {
  readonly code = "TOOLS_NOT_KNOWN";
  readonly retryable = true;
  constructor(missing: string[]) {
    super(`The API did not know ${missing.join(", ")} after ${TIMEOUT_MS} ms`, { missing });
  }
}

/**
 * Waits until the API knows these tools: executors publish the catalogues of tool servers shortly after they
 * become ready.
 * @throws {ToolsNotKnownError}
 */
export async function waitForTools(apiUrl: string, names: readonly string[]): Promise<void> {
  const client = createClient({ url: apiUrl });
  const deadlineAt = performance.now() + TIMEOUT_MS;
  for (;;) {
    const { getAvailableTools } = await client.execute(TOOLS, {});
    const missing = names.filter((name) => getAvailableTools.every((tool) => tool.name !== name));
    if (missing.length === 0) return;
    if (performance.now() > deadlineAt) throw new ToolsNotKnownError(missing);
    await delay(POLL_EVERY_MS);
  }
}
