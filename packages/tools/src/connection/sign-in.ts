/**
 * The sign-in at one HTTP server by OAuth 2.1, as the MCP specification has it: the SDK finds the authorization server,
 * registers this client, and exchanges codes and refresh tokens.
 *
 * 1. One process at a time changes a sign-in ({@link SignIns.change}): a server that gives a new refresh token with
 *    each use would take two uses of one for a theft, and end the sign-in.
 * 2. A person is asked once: while an authorization address is open, no other one is made.
 * 3. Tokens are for one address. After a change of the server's `url` in the servers file they are not sent.
 * 4. Every token is a secret of the server before it is sent: it is masked in what the server answers.
 *
 * @see https://modelcontextprotocol.io/specification/draft/basic/authorization
 */
import { randomBytes } from "node:crypto";
import {
  type AuthProvider,
  auth,
  extractWWWAuthenticateParams,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { CodedError } from "@planwright/plan";
import type { HttpServerConfig } from "../config/load-servers-file.ts";
import { excerptOf } from "./errors.ts";
import { tokenSentFor } from "./http-fetch.ts";

/** What is known about the sign-in at one server. */
export interface SignIn {
  /** The address that it is for. */
  url: string;
  /** How the authorization server knows this client, when it was registered there. */
  client?: StoredOAuthClientInformation | undefined;
  tokens?: StoredOAuthTokens | undefined;
  /** When the access token ends, in Unix milliseconds. Absent: the authorization server did not say. */
  tokensEndAt?: number | undefined;
  discovery?: OAuthDiscoveryState | undefined;
  /** Present while a person has to sign in. */
  asked?: AskedSignIn | undefined;
  /** How the authorization server sent that person back. */
  answer?: SignInAnswer | undefined;
  /** Why the last sign-in failed. */
  error?: string | undefined;
}

/** A person is asked to sign in. */
interface AskedSignIn {
  /** The address that they open. */
  authorizationUrl: string;
  /** Names this question in the answer; random. */
  state: string;
  codeVerifier: string;
  /** Since when, in Unix milliseconds; also after an answer that failed. */
  since: number;
}

/** The answer of an authorization server: a code, or why there is none. */
export type SignInAnswer = { code: string; iss: string | null } | { refused: string };

/** Where sign-ins are stored, for all executors. */
export interface SignIns {
  /** The address at which an authorization server sends a person back. */
  readonly redirectUrl: string;
  /** Makes a request to an authorization server, whose address a tool server has named. Follows no redirect. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Undefined: none is stored. */
  read(server: string): Promise<SignIn | undefined>;
  /** Stores what `work` makes of the stored sign-in. No other process changes it meanwhile. Returns the stored one. */
  change(server: string, work: (stored: SignIn | undefined) => Promise<SignIn>): Promise<SignIn>;
}

/** A server refused a request before it processed it, and no other token can be had now. */
export class NoTokenError extends CodedError<{ server: string }> {
  readonly code = "NO_TOKEN";
  readonly retryable = true;
}

/** A server answers only after a person has signed in. */
function signInRequired(server: string): NoTokenError {
  return new NoTokenError(
    `it needs a sign-in: "planwright sign-in ${server}" or Tools in the console says where`,
    { server },
  );
}

/** The authorization server did not answer, or refused. */
function notRenewed(server: string, cause: unknown): NoTokenError {
  return new NoTokenError(
    `it refuses the token, and there is no other one: ${reasonOf(cause)}`,
    { server },
    { cause },
  );
}

/** Dependencies of {@link createServerSignIn}. */
interface ServerSignInParts {
  server: string;
  /** The address of the server. */
  url: string;
  auth: NonNullable<HttpServerConfig["auth"]>;
  signIns: SignIns;
  /** Masks these values in everything that the server answers from now on. */
  addSecrets: (values: readonly string[]) => void;
}

/** The sign-in at one server. */
export interface ServerSignIn {
  /** For the transports of the SDK. */
  readonly provider: AuthProvider;
  /** True while the server is known to answer only after a person has signed in. */
  isNeeded(): boolean;
  /** Reads what is stored, and ends the sign-in when a person has come back from the authorization server. */
  check(): Promise<void>;
}

/** Longest that an authorization server may take for one answer, in milliseconds. */
const REQUEST_TIMEOUT_MS = 10_000;
/** A token that ends within this time is renewed before it is sent, in milliseconds. */
const RENEW_BEFORE_MS = 60_000;
/** Of a token that lives shorter, this part of its life. */
const RENEW_SHARE = 0.25;

/** The sign-in at a server; reads nothing before it is used. */
export function createServerSignIn(parts: ServerSignInParts): ServerSignIn {
  const { server, url, signIns, addSecrets } = parts;
  let known: SignIn | undefined;
  let renewing: Promise<SignIn> | undefined;

  /** The stored one, if it is for the configured address. */
  const ownOf = (stored: SignIn | undefined): SignIn => (stored?.url === url ? stored : { url });

  function take(signIn: SignIn): SignIn {
    const { tokens, client } = signIn;
    const values = [tokens?.access_token, tokens?.refresh_token, tokens?.id_token, client?.client_secret];
    addSecrets([...values, parts.auth.clientSecret].filter((value) => value !== undefined));
    known = signIn;
    return signIn;
  }

  /**
   * Gets other tokens than the one that is used up, or asks a person, unless another process has done so.
   * One call at a time in this process.
   */
  function renew(used: string | undefined, challenge: Challenge = {}): Promise<SignIn> {
    renewing ??= signIns
      .change(server, async (stored) => {
        const own = ownOf(stored);
        const isRenewed = own.tokens !== undefined && own.tokens.access_token !== used;
        const isAsked = own.asked !== undefined && own.answer === undefined;
        return isRenewed || isAsked ? own : await authorize(own, parts, challenge);
      })
      .then(take)
      .finally(() => {
        renewing = undefined;
      });
    return renewing;
  }

  /** True for a token that ends soon, and that can be renewed without a person. */
  function isToRenew({ tokens, tokensEndAt }: SignIn): boolean {
    if (!tokens || tokensEndAt === undefined) return false;
    if (tokens.refresh_token === undefined && parts.auth.grant === "authorization_code") return false;
    const lifeMs = (tokens.expires_in ?? 0) * 1_000;
    return tokensEndAt - Date.now() < Math.min(RENEW_BEFORE_MS, lifeMs * RENEW_SHARE);
  }

  return {
    provider: {
      async token() {
        const current = take(known ?? ownOf(await signIns.read(server)));
        if (!isToRenew(current)) return current.tokens?.access_token;
        // Until it has ended, the token is good although the authorization server is away.
        const renewed = await renew(current.tokens?.access_token).catch(() => current);
        return renewed.tokens?.access_token;
      },
      async onUnauthorized({ response }) {
        const { scope, resourceMetadataUrl } = extractWWWAuthenticateParams(response);
        // Other calls may have renewed it since this request was sent.
        const challenge = { scope, resourceMetadataUrl };
        const { tokens } = await renew(tokenSentFor(response), challenge).catch((error: unknown) => {
          throw notRenewed(server, error);
        });
        if (!tokens) throw signInRequired(server);
      },
    },
    isNeeded: () => known?.asked !== undefined,
    async check() {
      const stored = ownOf(await signIns.read(server));
      if (stored.answer === undefined) take(stored);
      else await renew(stored.tokens?.access_token);
    },
  };
}

/** What a server said when it refused a request. */
interface Challenge {
  scope?: string | undefined;
  resourceMetadataUrl?: URL | undefined;
}

/** One step of a sign-in: new tokens, or an address at which a person signs in. */
async function authorize(before: SignIn, parts: ServerSignInParts, challenge: Challenge): Promise<SignIn> {
  const { answer } = before;
  const draft: SignIn = { ...before, answer: undefined };
  const since = before.asked?.since ?? Date.now();
  if (answer && "code" in answer) {
    try {
      const { code, iss } = answer;
      await authorizeBy(draft, parts, { ...challenge, since, authorizationCode: code, iss });
      return draft;
    } catch (error) {
      draft.error = reasonOf(error);
    }
  } else if (answer) draft.error = excerptOf(answer.refused);
  // A question is answered once: after a failure there is another one.
  draft.asked = undefined;
  await authorizeBy(draft, parts, { ...challenge, since });
  return draft;
}

const reasonOf = (error: unknown): string =>
  excerptOf(error instanceof Error ? error.message : String(error));

async function authorizeBy(
  draft: SignIn,
  { url, auth: settings, signIns: { redirectUrl, fetch } }: ServerSignInParts,
  {
    scope,
    since,
    iss,
    ...challenge
  }: Challenge & { since: number; authorizationCode?: string; iss?: string | null },
): Promise<void> {
  const { clientId, clientSecret, scopes, grant } = settings;
  const isPerson = grant === "authorization_code";
  const state = randomBytes(32).toString("base64url");
  let newVerifier = "";
  const provider: OAuthClientProvider = {
    redirectUrl: isPerson ? redirectUrl : undefined,
    clientMetadata: {
      client_name: "Planwright",
      redirect_uris: isPerson ? [redirectUrl] : [],
      grant_types: isPerson ? ["authorization_code", "refresh_token"] : ["client_credentials"],
      ...(isPerson ? { response_types: ["code"] } : {}),
      token_endpoint_auth_method: isPerson ? "none" : "client_secret_basic",
    },
    ...(!isPerson && {
      prepareTokenRequest: (wanted?: string) =>
        new URLSearchParams({ grant_type: "client_credentials", ...(wanted && { scope: wanted }) }),
    }),
    state: () => state,
    clientInformation: () =>
      clientId === undefined ? draft.client : { client_id: clientId, client_secret: clientSecret },
    ...(clientId === undefined && {
      saveClientInformation: (client: StoredOAuthClientInformation) => void (draft.client = client),
    }),
    tokens: () => draft.tokens,
    saveTokens(tokens) {
      draft.tokens = tokens;
      draft.tokensEndAt =
        tokens.expires_in === undefined ? undefined : Date.now() + tokens.expires_in * 1_000;
      draft.asked = undefined;
      draft.error = undefined;
    },
    saveCodeVerifier: (verifier) => void (newVerifier = verifier),
    codeVerifier: () => draft.asked?.codeVerifier ?? "",
    redirectToAuthorization(address) {
      // A person opens it in a browser.
      if (address.protocol !== "https:" && address.protocol !== "http:")
        throw new TypeError(`Its authorization server has an address of the kind ${address.protocol}`);
      draft.asked = { authorizationUrl: address.href, state, codeVerifier: newVerifier, since };
      draft.tokens = undefined;
      draft.tokensEndAt = undefined;
    },
    invalidateCredentials(kind) {
      if (kind === "all" || kind === "client") draft.client = undefined;
      if (kind === "all" || kind === "tokens") draft.tokens = undefined;
      if (kind === "all" || kind === "discovery") draft.discovery = undefined;
    },
    saveDiscoveryState: (discovery) => void (draft.discovery = discovery),
    discoveryState: () => draft.discovery,
  };
  const wanted = scopes?.join(" ") ?? scope;
  await auth(provider, {
    serverUrl: url,
    fetchFn: (address, init = {}) =>
      fetch(String(address), { ...init, signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) }),
    ...(wanted === undefined ? {} : { scope: wanted }),
    ...(iss ? { iss } : {}),
    ...(challenge.authorizationCode === undefined ? {} : { authorizationCode: challenge.authorizationCode }),
    ...(challenge.resourceMetadataUrl && { resourceMetadataUrl: challenge.resourceMetadataUrl }),
  });
}
