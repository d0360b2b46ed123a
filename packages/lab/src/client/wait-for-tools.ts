import { setTimeout as delay } from "node:timers/promises";
import { CodedError } from "@planwright/plan";
import { z } from "zod";
import { createBenchClient, operation } from "./bench-client.ts";

const AnswerSchema = z.object({
  data: z.object({ getAvailableTools: z.array(z.object({ name: z.string() })) }),
});
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
  const client = createBenchClient(apiUrl, 1);
  const deadlineAt = performance.now() + TIMEOUT_MS;
  try {
    for (;;) {
      const answer = await client.send(operation("{ getAvailableTools { name } }", {}));
      const { getAvailableTools } = AnswerSchema.parse(JSON.parse(answer)).data;
      const missing = names.filter((name) => getAvailableTools.every((tool) => tool.name !== name));
      if (missing.length === 0) return;
      if (performance.now() > deadlineAt) throw new ToolsNotKnownError(missing);
      await delay(BETWEEN_LOOKS_MS);
    }
  } finally {
    client.close();
  }
}
