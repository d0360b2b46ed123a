import { stripVTControlCharacters } from "node:util";
import { createClient, graphql } from "@planwright/client";
import { persistently } from "./persistently.ts";
import type { Stack } from "./start-stack.ts";

const QUERY = graphql(`{ toolServers { name state error stderrTail } }`);

/**
 * Lines about the tool servers that are not connected: the reason, and the last lines of their processes;
 * empty if all are connected.
 */
export async function missingServers({
  apiUrl,
  apiKey,
}: Pick<Stack, "apiUrl" | "apiKey">): Promise<string[]> {
  const client = createClient({ url: apiUrl, token: apiKey });
  const { toolServers } = await persistently(() => client.execute(QUERY, {}));
  const missing = toolServers.filter(({ state }) => state !== "CONNECTED");
  if (missing.length === 0) return [];
  return [
    "Tool servers that are not connected; each is tried again by itself:",
    ...missing.flatMap(({ name, error, stderrTail }) => [
      `  ${name}  ${stripVTControlCharacters(error ?? "has not answered yet")}`,
      ...(stderrTail === null
        ? []
        : stderrTail.split("\n").map((line) => `    | ${stripVTControlCharacters(line)}`)),
    ]),
  ];
}
