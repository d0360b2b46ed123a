import type { Scope } from "@planwright/store";
import { ForbiddenError } from "../errors/api-errors.ts";

/** Who asks, as the credential says; nothing of it comes from the request itself. */
export interface Caller {
  /** What its operations are counted by, unique over tenants; null: they are not counted. */
  countedAs: string | null;
  /** Stands beside what it approves and settles: the name of its key, the subject of its token, or "anonymous". */
  name: string;
  tenant: string;
  /** The API key that it brings, which may be revoked; null for a caller without one. */
  keyId: string | null;
  /** From then on its credential is not accepted; null: it does not end by itself. */
  expiresAt: Date | null;
  scopes: ReadonlySet<Scope>;
}

/** True when the caller may do what needs this scope: `admin` stands for all of them. */
export function hasScope({ scopes }: Caller, scope: Scope): boolean {
  return scopes.has(scope) || scopes.has("admin");
}

/** @throws {ForbiddenError} naming the scope that is missing */
export function requireScope(caller: Caller, scope: Scope): void {
  if (!hasScope(caller, scope)) throw new ForbiddenError(scope);
}
