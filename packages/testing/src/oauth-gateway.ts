import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { Provider } from "oidc-provider";

/** Options of {@link startOauthGateway}. */
export interface OauthGatewayOptions {
  /** The MCP server behind it. */
  target: string;
  /** How long an access token lives, in seconds. Default 3,600. */
  tokenSeconds?: number;
  /** A client that is registered already; default: clients register themselves. */
  client?: { id: string; secret: string };
}

/** An MCP server that wants an access token, with the authorization server that gives it. */
export interface OauthGateway {
  /** Address of the MCP endpoint. */
  url: string;
  /** Successful token requests so far, by their kind. */
  grants: { authorization_code: number; refresh_token: number; client_credentials: number };
  /** The access tokens that were sent to it so far. */
  tokens(): string[];
  /** Does what a person does in a browser: signs in and agrees. Returns the address to which they are sent back. */
  signIn(authorizationUrl: string): Promise<string>;
  /** Ends all access tokens; they may be renewed. */
  endTokens(): void;
  /** Holds the next answer to a token that is not good. Resolves when it is held, with what sends it. */
  holdRefusal(): Promise<() => void>;
  /** Ends all sign-ins: nothing may be renewed. */
  endSignIns(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts both on one port of loopback. The authorization server is oidc-provider: it takes a second use of a refresh
 * token for a theft, and ends the sign-in.
 */
export async function startOauthGateway(options: OauthGatewayOptions): Promise<OauthGateway> {
  let handle: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => response.end();
  const server = createServer((request, response) => handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("A TCP server has a port");
  const origin = `http://127.0.0.1:${address.port}`;
  const resource = `${origin}/mcp`;
  const provider = await createProvider(origin, resource, options);
  const grants: OauthGateway["grants"] = { authorization_code: 0, refresh_token: 0, client_credentials: 0 };
  const grantIds = new Set<string>();
  provider.on("grant.success", ({ oidc }) => {
    const kind = oidc.params?.["grant_type"];
    if (typeof kind === "string" && Object.hasOwn(grants, kind)) grants[kind as keyof typeof grants] += 1;
    const grantId = oidc.entities.AccessToken?.grantId ?? oidc.entities.Grant?.jti;
    if (grantId) grantIds.add(grantId);
  });
  const endedTokens = new Set<string>();
  let onRefusal: ((send: () => void) => void) | undefined;
  const seenTokens = new Set<string>();

  async function isGood(token: string): Promise<boolean> {
    const found = await provider.AccessToken.find(token);
    const credentials = found ? undefined : await provider.ClientCredentials.find(token);
    if (!found && !credentials) return false;
    seenTokens.add(token);
    return !endedTokens.has(token);
  }

  const callback = provider.callback();
  handle = (request, response) => {
    const path = request.url ?? "";
    if (path === "/.well-known/oauth-protected-resource/mcp") {
      const metadata = { resource, authorization_servers: [origin], scopes_supported: ["use"] };
      return void response.setHeader("content-type", "application/json").end(JSON.stringify(metadata));
    }
    if (path !== "/mcp") return void callback(request, response);
    const [, token = ""] = /^Bearer (.+)$/.exec(request.headers.authorization ?? "") ?? [];
    void isGood(token).then(async (good) => {
      if (good) return pass(request, response, options.target);
      const held = onRefusal;
      onRefusal = undefined;
      if (held) await new Promise<void>((resolve) => held(resolve));
      const about = `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
      const why = token === "" ? "" : 'error="invalid_token", ';
      response.writeHead(401, { "www-authenticate": `Bearer ${why}${about}` }).end("Unauthorized");
    });
  };

  return {
    url: resource,
    grants,
    tokens: () => [...seenTokens],
    signIn: (authorizationUrl) => browse(authorizationUrl, origin),
    endTokens() {
      for (const token of seenTokens) endedTokens.add(token);
    },
    holdRefusal: () => new Promise((resolve) => (onRefusal = resolve)),
    async endSignIns() {
      for (const token of seenTokens) endedTokens.add(token);
      for (const id of grantIds) {
        await provider.AccessToken.revokeByGrantId(id);
        await provider.RefreshToken.revokeByGrantId(id);
        await (await provider.Grant.find(id))?.destroy();
      }
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function createProvider(
  origin: string,
  resource: string,
  { tokenSeconds = 3_600, client }: OauthGatewayOptions,
): Promise<Provider> {
  // Most tests do not need it, and it takes long to load.
  const { Provider: OidcProvider } = await import("oidc-provider");
  return new OidcProvider(origin, {
    clients: client
      ? [
          {
            client_id: client.id,
            client_secret: client.secret,
            grant_types: ["client_credentials"],
            redirect_uris: [],
            response_types: [],
          },
        ]
      : [],
    scopes: ["openid", "offline_access", "use"],
    features: {
      registration: { enabled: client === undefined },
      clientCredentials: { enabled: client !== undefined },
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: "use",
          audience: resource,
          accessTokenFormat: "opaque",
          accessTokenTTL: tokenSeconds,
        }),
        useGrantedResource: () => true,
      },
    },
    ttl: {
      AccessToken: tokenSeconds,
      ClientCredentials: tokenSeconds,
      Grant: 86_400,
      Interaction: 600,
      Session: 86_400,
    },
    cookies: { keys: ["a key of a test"] },
  });
}

/** Passes a request on to another server, and its answer back. */
function pass(request: IncomingMessage, response: ServerResponse, target: string): void {
  const { authorization: _, host: __, ...headers } = request.headers;
  const { method } = request;
  const passed = httpRequest(target, { headers, ...(method && { method }) }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  passed.on("error", () => response.destroy());
  response.on("close", () => passed.destroy());
  request.pipe(passed);
}

/** Most pages that a sign-in takes. */
const MAX_PAGES = 20;

/** Follows redirects and sends the forms for the sign-in and for the consent, until it is sent to another origin. */
async function browse(start: string, origin: string): Promise<string> {
  const cookies = new Map<string, string>();
  let at = new URL(start);
  let form: URLSearchParams | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await fetch(at, {
      redirect: "manual",
      headers: { cookie },
      ...(form && { method: "POST", body: form }),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = answer.headers.get("location");
    form = undefined;
    if (location !== null) {
      at = new URL(location, at);
      if (at.origin !== origin) return at.href;
      continue;
    }
    const html = await answer.text();
    const [, action] = /<form[^>]*action="([^"]+)"/.exec(html) ?? [];
    const [, prompt] = /name="prompt" value="([^"]+)"/.exec(html) ?? [];
    if (action === undefined || prompt === undefined)
      throw new TypeError(
        `The page at ${at.href} has no form (HTTP ${answer.status}): ${html.slice(0, 500)}`,
      );
    at = new URL(action, at);
    form = new URLSearchParams({ prompt, ...(prompt === "login" && { login: "ada", password: "any" }) });
  }
  throw new TypeError(`The sign-in at ${origin} did not end within ${MAX_PAGES} pages`);
}
