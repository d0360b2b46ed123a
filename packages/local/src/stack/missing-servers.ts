import { stripVTControlCharacters } from "node:util";
import { z } from "zod";
import { graphqlPersistently } from "./graphql.ts";
import type { Stack } from "./start-stack.ts";

const ServersSchema = z.object({
  toolServers: z.array(
    z.object({
      name: z.string(),
      state: z.string(),
      error: z.string().nullable(),
      lastWords: z.string().nullable(),
    }),
  ),
});

/** Lines on the tool servers that are not connected: why, and what their processes wrote last; none where all are. */
export async function missingServers({
  apiUrl,
  apiKey,
}: Pick<Stack, "apiUrl" | "apiKey">): Promise<string[]> {
  const query = "{ toolServers { name state error lastWords } }";
  const { toolServers } = await graphqlPersistently(apiUrl, { query, apiKey, schema: ServersSchema });
  const missing = toolServers.filter(({ state }) => state !== "CONNECTED");
  if (missing.length === 0) return [];
  return [
    "Tool servers that are not connected; each is tried again by itself:",
    ...missing.flatMap(({ name, error, lastWords }) => [
      `  ${name}  ${stripVTControlCharacters(error ?? "has not answered yet")}`,
      ...(lastWords === null
        ? []
        : lastWords.split("\n").map((line) => `    | ${stripVTControlCharacters(line)}`)),
    ]),
  ];
}
