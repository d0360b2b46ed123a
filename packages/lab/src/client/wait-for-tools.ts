import { setTimeout as delay } from "node:timers/promises";
import { createClient, graphql } from "@planwright/client";
import { CodedError } from "@planwright/plan";

const TOOLS = graphql("{ getAvailableTools { name } }");
const TIMEOUT_MS = 60_000;
const BETWEEN_LOOKS_MS = 100;

/** After the timeout the API still does not know these tools. */
export class ToolsNotKnownError extends CodedError<{ missing: string[] }> {
  readonly code = "TOOLS_NOT_KNOWN";
  readonly retryable = true;
  constructor(missing: string[]) {
    super(`The API did not know ${missing.join(", ")} after ${TIMEOUT_MS} ms`, { missing });
  }
}

/**
 * Waits until the API knows these tools: executors publish what tool servers offer just after they became
 * ready.
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
    await delay(BETWEEN_LOOKS_MS);
  }
}
