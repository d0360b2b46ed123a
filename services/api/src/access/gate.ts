import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import {
  type AccessStore,
  type ApiKey,
  isApiKeyShaped,
  type Scope,
  ScopeSchema,
  TenantSchema,
} from "@planwright/store";
import type { RequestHandler } from "express";
import { createRemoteJWKSet, customFetch, errors, type JWTPayload, jwtVerify } from "jose";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { ApiError, ForbiddenError, UnauthenticatedError, UnavailableError } from "../errors/api-error.ts";
import type { SendRefusal } from "../errors/format-error.ts";
import type { ApiLogger, ApiMetrics } from "../errors/telemetry.ts";
import type { RateLimit } from "../load/tenant-limits.ts";

/** Checks every call before its operation starts, over every protocol. */
export interface Gate {
  /** Finds the caller, without counting. @throws {UnauthenticatedError | UnavailableError} */
  recognize(presented: Presented): Promise<Caller>;
  /** The same for an operation, which counts for the rate limit. @throws {RateLimitedError} too */
  admit(presented: Presented): Promise<Caller>;
  /** Passes HTTP requests of known callers to the next handler, and answers all others with an error. */
  forCallers: RequestHandler;
  /** The same for callers with a scope, without counting. */
  forScope(scope: Scope): RequestHandler;
  /** The caller of a request that passed the gate. */
  callerOf(request: IncomingMessage): Caller;
}

/** Dependencies of {@link createGate}. */
interface GateDependencies {
  authenticate: Authenticate;
  /** Default: no limit. */
  rateLimit?: Pick<RateLimit, "count"> | undefined;
  /** Counts refusals. */
  metrics: Pick<ApiMetrics, "denied">;
  sendRefusal: SendRefusal;
}

/** One gate for all protocols of the service. */
export function createGate({ authenticate, rateLimit, metrics, sendRefusal }: GateDependencies): Gate {
  const callers = new WeakMap<IncomingMessage, Caller>();

  /** Counts refusals. */
  async function counted<T>(check: () => Promise<T>): Promise<T> {
    try {
      return await check();
    } catch (error) {
      if (error instanceof ApiError) metrics.denied(error.code);
      throw error;
    }
  }

  const recognize = (presented: Presented) => counted(() => authenticate(presented));
  const admit = (presented: Presented) =>
    counted(async () => {
      const caller = await authenticate(presented);
      if (caller.countedAs !== null) await rateLimit?.count(caller.countedAs);
      return caller;
    });

  function handler(check: (presented: Presented) => Promise<Caller>): RequestHandler {
    return async (request, response, next) => {
      try {
        callers.set(request, await check(presentedBy(request)));
      } catch (error) {
        return sendRefusal(response, error);
      }
      next();
    };
  }

  return {
    recognize,
    admit,
    forCallers: handler(admit),
    forScope: (scope) =>
      handler((presented) =>
        counted(async () => {
          const caller = await authenticate(presented);
          requireScope(caller, scope);
          return caller;
        }),
      ),
    callerOf(request) {
      const caller = callers.get(request);
      if (!caller) throw new TypeError("an operation bypassed the gate");
      return caller;
    },
  };
}

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

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

/** True for an address or name that only this machine can reach: 127.0.0.0/8, ::1, localhost. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  if (name === "localhost") return true;
  const family = isIP(name);
  return family !== 0 && LOOPBACK.check(name, family === 4 ? "ipv4" : "ipv6");
}

/**
 * `uri-host [":" port]`: a name or an address. A user, path or query is refused; a URL parser would drop
 * them.
 */
const HOST = /^(\[[0-9a-f:.]+\]|[\w.~%!$&'()*+,;=-]+)(?::\d{0,5})?$/i;

/** Host of a Host header, without its port; undefined for an invalid header. @see RFC 9110, section 7.2 */
export function parseHost(header: string | undefined): string | undefined {
  return header === undefined ? undefined : HOST.exec(header)?.[1];
}

/**
 * True when a Host header has a loopback name. A page of another site whose name resolves to 127.0.0.1 sends
 * the name of that site (DNS rebinding), and so does a client behind a proxy that keeps the Host header.
 */
export function isLoopbackHost(header: string | undefined): boolean {
  const host = parseHost(header);
  return host !== undefined && isLoopback(host);
}

/** Who may call without a credential: callers that use a loopback host name, all callers, or none. */
export type Anonymous = "loopback" | "allow" | "refuse";

/** Dependencies of {@link createAuthenticate}. */
interface AuthenticationDependencies extends ApiKeysDependencies {
  /** Use "loopback" only for a service that is bound to loopback. */
  anonymous: Anonymous;
  /** Tenant of callers without a credential. */
  tenant: string;
  /** Default: only keys are accepted, no tokens. */
  tokens?: TokenSettings | undefined;
}

/** The credential of a request, and how the request reached this service. */
export interface Presented {
  /** The header's value: "Bearer pw_...". */
  authorization: string | undefined;
  host: string | undefined;
  /** True when a proxy forwarded the request: the caller may be on any machine. */
  isForwarded: boolean;
}

/** Finds the caller. @throws {UnauthenticatedError | UnavailableError} */
type Authenticate = (presented: Presented) => Promise<Caller>;

/** Longest credential that is read, in characters. */
const MAX_LENGTH = 16_384;

/**
 * A caller is identified only by its credential. A credential that is not accepted is refused: such a caller
 * is never treated as anonymous. The refusal is always the same, so it does not reveal whether a key exists.
 */
export function createAuthenticate(dependencies: AuthenticationDependencies): Authenticate {
  const { anonymous, tenant, tokens } = dependencies;
  const holderOfKey = createApiKeys(dependencies);
  const holderOfToken = tokens ? createTokens(tokens) : async () => undefined;
  const anonymousCaller: Caller = {
    countedAs: null,
    name: "anonymous",
    tenant,
    keyId: null,
    expiresAt: null,
    scopes: new Set(ScopeSchema.options),
  };

  return async ({ authorization, host, isForwarded }) => {
    if (authorization === undefined) {
      const isFromHere = !isForwarded && isLoopbackHost(host);
      if (anonymous === "allow" || (anonymous === "loopback" && isFromHere)) return anonymousCaller;
      throw new UnauthenticatedError("missing");
    }
    const secret = /^Bearer +([\w.~+/=-]+)$/i.exec(authorization.slice(0, MAX_LENGTH))?.[1] ?? "";
    const caller = isApiKeyShaped(secret) ? await holderOfKey(secret) : await holderOfToken(secret);
    if (!caller) throw new UnauthenticatedError("not accepted");
    return caller;
  };
}

/** Headers that proxies add to a request they forward: the standard ones, and those of common proxies. */
const PROXY_HEADER =
  /^(?:forwarded|via|x-forwarded(?:-.*)?|x-real-ip|x-client-ip|cf-connecting-ip|true-client-ip)$/;

/** Reads the credential from an HTTP request. */
export function presentedBy({ headers }: IncomingMessage): Presented {
  const isForwarded = Object.keys(headers).some((name) => PROXY_HEADER.test(name));
  return { authorization: headers.authorization, host: headers.host, isForwarded };
}

/** How long a found key is cached, in milliseconds: a revoked key is accepted for at most this time. */
export const KNOWN_FOR_MS = 5_000;
const MAX_KNOWN = 10_000;
/** The use of a key is recorded at most once in this time, in milliseconds. */
const TOUCH_EVERY_MS = 60_000;

/** Dependencies of {@link createApiKeys}. */
interface ApiKeysDependencies {
  store: Pick<AccessStore, "findApiKey" | "touchApiKey">;
  logger: ApiLogger;
}

/** Finds the caller of a key; undefined for a key that is unknown, revoked or expired. */
function createApiKeys({
  store,
  logger,
}: ApiKeysDependencies): (secret: string) => Promise<Caller | undefined> {
  const known = new LRUCache<string, ApiKey>({ max: MAX_KNOWN, ttl: KNOWN_FOR_MS });
  const touched = new LRUCache<string, true>({ max: MAX_KNOWN, ttl: TOUCH_EVERY_MS });

  function touch(id: string): void {
    if (touched.has(id)) return;
    touched.set(id, true);
    store
      .touchApiKey(id)
      .catch((error: unknown) => logger.warn({ err: error }, "could not record the use of a key"));
  }

  return async (secret) => {
    const key = known.get(secret) ?? (await store.findApiKey(secret));
    if (!key || (key.expiresAt && key.expiresAt.getTime() <= Date.now())) return undefined;
    if (!known.has(secret)) known.set(secret, key);
    touch(key._id);
    const { _id: keyId, name, tenant, scopes, expiresAt } = key;
    return { countedAs: keyId, name, tenant, keyId, expiresAt, scopes: new Set(scopes) };
  };
}

/** Reads the key set; default `fetch`. Redirects are not followed. */
type FetchKeySet = (url: string, init: RequestInit) => Promise<Response>;

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
