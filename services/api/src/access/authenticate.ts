import type { IncomingMessage } from "node:http";
import { isApiKeyShaped, ScopeSchema } from "@planwright/store";
import { UnauthenticatedError } from "../errors/access-errors.ts";
import { type ApiKeysDependencies, createApiKeys } from "./api-keys.ts";
import type { Caller } from "./caller.ts";
import { isLoopbackHost } from "./loopback.ts";
import { createTokens, type TokenSettings } from "./tokens.ts";

/** Who may call without a credential: callers that use a loopback host name, all callers, or none. */
export type Anonymous = "loopback" | "allow" | "refuse";

/** Dependencies of {@link createAuthenticate}. */
export interface AuthenticationDependencies extends ApiKeysDependencies {
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
export type Authenticate = (presented: Presented) => Promise<Caller>;

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
