import type { IncomingMessage } from "node:http";
import { isApiKeyShaped, ScopeSchema } from "@planwright/store";
import { UnauthenticatedError } from "../errors/api-errors.ts";
import { type ApiKeysDependencies, createApiKeys } from "./api-keys.ts";
import type { Caller } from "./caller.ts";
import { isLoopbackHost } from "./loopback.ts";
import { createTokens, type TokenSettings } from "./tokens.ts";

/** Who may ask without a credential: callers that reach this machine by a name of its own, all callers, or none. */
export type Anonymous = "loopback" | "allow" | "refuse";

/** By what callers are known. */
export interface AuthenticationDependencies extends ApiKeysDependencies {
  /** "loopback" is for a service that is bound to loopback. */
  anonymous: Anonymous;
  /** Tenant of those without a credential. */
  tenant: string;
  /** Default: no tokens are accepted, only keys. */
  tokens?: TokenSettings | undefined;
}

/** What a caller brings: its credential, and the way by which it reached this service. */
export interface Presented {
  /** As in the header: "Bearer pw_...". */
  authorization: string | undefined;
  host: string | undefined;
  /** True when a proxy says that it passes the request on: the caller may be anywhere. */
  isForwarded: boolean;
}

/** Tells who asks. @throws {UnauthenticatedError} and {UnavailableError} */
export type Authenticate = (presented: Presented) => Promise<Caller>;

/** Longest credential that is looked at. */
const MAX_LENGTH = 16_384;

/**
 * Every caller is known by its credential alone. One that brings a credential which is not accepted is refused, and never
 * taken for a caller without one. The refusal is the same whatever is wrong: it does not tell whether a key exists.
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

/** Headers in which a proxy says that it passes a request on: the standard ones, and those of the usual proxies. */
const PROXY_HEADER =
  /^(?:forwarded|via|x-forwarded(?:-.*)?|x-real-ip|x-client-ip|cf-connecting-ip|true-client-ip)$/;

/** What an HTTP request brings. */
export function presentedBy({ headers }: IncomingMessage): Presented {
  const isForwarded = Object.keys(headers).some((name) => PROXY_HEADER.test(name));
  return { authorization: headers.authorization, host: headers.host, isForwarded };
}
