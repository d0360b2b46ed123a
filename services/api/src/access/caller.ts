import type { Scope } from "@planwright/store";
import { ForbiddenError } from "../errors/access-errors.ts";

/** Who makes a call, according to the credential; no other part of the request is used. */
export interface Caller {
  /** Key of its rate limit, unique over all tenants; null: no limit. */
  countedAs: string | null;
  /** Recorded with its decisions: the name of its key, the subject of its token, or "anonymous". */
  name: string;
  tenant: string;
  /** Id of its API key, which may be revoked; null without one. */
  keyId: string | null;
  /** When its credential expires; null: never. */
  expiresAt: Date | null;
  scopes: ReadonlySet<Scope>;
}

/** True when the caller has this scope; `admin` includes all scopes. */
export function hasScope({ scopes }: Caller, scope: Scope): boolean {
  return scopes.has(scope) || scopes.has("admin");
}

/** @throws {ForbiddenError} naming the scope that is missing */
export function requireScope(caller: Caller, scope: Scope): void {
  if (!hasScope(caller, scope)) throw new ForbiddenError(scope);
}
