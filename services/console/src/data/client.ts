import { type Client, createClient } from "@planwright/client";

/**
 * The client of the API that served this page.
 * @param token - an API key or a token; it stays in the memory of this page
 */
export function createPageClient(token: string | undefined): Client {
  return createClient({ url: new URL("/graphql", location.href).href, token });
}
