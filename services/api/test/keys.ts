import type { Scope, Store } from "@planwright/store";

/** A header with a new key. */
export async function bearer(
  store: Store,
  scopes: Scope[],
  more: { tenant?: string; name?: string } = {},
): Promise<{ authorization: string }> {
  const { secret } = await store.createApiKey({ tenant: "default", name: "tester", scopes, ...more });
  return { authorization: `Bearer ${secret}` };
}
