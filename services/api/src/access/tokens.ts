import { createHash } from "node:crypto";
import { ScopeSchema, TenantSchema } from "@planwright/store";
import { createRemoteJWKSet, customFetch, errors, type JWTPayload, jwtVerify } from "jose";
import { z } from "zod";
import { UnavailableError } from "../errors/service-errors.ts";
import type { Caller } from "./caller.ts";

/** Reads the key set; default `fetch`. Redirects are not followed. */
export type FetchKeySet = (url: string, init: RequestInit) => Promise<Response>;

/** Which tokens are accepted, and how their claims are read. */
export interface TokenSettings {
  jwksUrl: string;
  issuer: string;
  audience: string;
  /** Claims that hold the tenant and the scopes: text with spaces, or a list. */
  tenantClaim: string;
  scopeClaim: string;
  fetch?: FetchKeySet | undefined;
}

/** Only asymmetric algorithms: a service that can check tokens must not be able to make them. */
const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
const KEY_SET_TIMEOUT_MS = 5_000;
/**
 * How long a key set is cached, in milliseconds; a token with an unknown key causes a new read, at most once
 * in 30 s.
 */
const KEY_SET_FOR_MS = 600_000;
/** Tolerated difference of clocks. */
const CLOCK_TOLERANCE = "30s";

const ScopesSchema = z.union([z.string().transform((text) => text.split(" ")), z.array(z.string())]);
const SubjectSchema = z.string().regex(/^[^\p{C}]{1,200}$/u);

/**
 * Finds the caller of a JSON Web Token; undefined for every token that is not accepted.
 * @throws {UnavailableError} when the key set cannot be read
 */
export function createTokens(settings: TokenSettings): (token: string) => Promise<Caller | undefined> {
  const { issuer, audience, fetch: fetchKeySet } = settings;
  const keys = createRemoteJWKSet(new URL(settings.jwksUrl), {
    timeoutDuration: KEY_SET_TIMEOUT_MS,
    cacheMaxAge: KEY_SET_FOR_MS,
    ...(fetchKeySet ? { [customFetch]: fetchKeySet } : {}),
  });
  return async (token) => {
    try {
      const { payload } = await jwtVerify(token, keys, {
        algorithms: ALGORITHMS,
        issuer,
        audience,
        clockTolerance: CLOCK_TOLERANCE,
        requiredClaims: ["exp", "sub"],
      });
      return toCaller(payload, settings);
    } catch (error) {
      if (isAboutToken(error)) return undefined;
      throw new UnavailableError(error, "The service that issues tokens");
    }
  };
}

/** True for an error of the token itself; every other error comes from reading the key set. */
function isAboutToken(error: unknown): boolean {
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) return false;
  return error instanceof errors.JOSEError && error.code !== "ERR_JOSE_GENERIC";
}

function toCaller(
  payload: JWTPayload,
  { issuer, tenantClaim, scopeClaim }: TokenSettings,
): Caller | undefined {
  const tenant = TenantSchema.safeParse(payload[tenantClaim]);
  const subject = SubjectSchema.safeParse(payload.sub);
  if (!tenant.success || !subject.success) return undefined;
  // jwtVerify has checked that it is present and valid.
  const expiresAt = new Date((payload.exp ?? 0) * 1_000);
  const named = ScopesSchema.safeParse(payload[scopeClaim]).data ?? [];
  const hash = createHash("sha256").update(JSON.stringify([issuer, tenant.data, subject.data]));
  return {
    countedAs: `token_${hash.digest("base64url")}`,
    name: subject.data,
    tenant: tenant.data,
    keyId: null,
    expiresAt,
    // Other values in the claim are for other services.
    scopes: new Set(ScopeSchema.options.filter((scope) => named.includes(scope))),
  };
}
