import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import type { TokenSettings } from "../src/access/gate.ts";

type SigningKey = Parameters<SignJWT["sign"]>[0];

/** Signs tokens with its key, and serves the key set over HTTP. */
export interface TokenIssuer {
  /** Settings with which a service accepts its tokens. */
  settings: TokenSettings;
  /** Accepted claims of the tenant "acme", without `exp`. */
  claims: { [name: string]: unknown };
  pair: Awaited<ReturnType<typeof generateKeyPair>>;
  /** A token that is valid for a minute by default. @param key - default: the issuer's key */
  sign(claims: { [name: string]: unknown }, key?: SigningKey, alg?: string): Promise<string>;
  close(): void;
}

/** Starts an issuer. */
export async function startTokenIssuer(): Promise<TokenIssuer> {
  const issuer = "https://id.example.org/";
  const audience = "planwright";
  const pair = await generateKeyPair("ES256", { extractable: true });
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: "k1", use: "sig", alg: "ES256" };
  const server = createServer((_request, response) => void response.end(JSON.stringify({ keys: [jwk] })));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const jwksUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
  return {
    settings: { jwksUrl, issuer, audience, tenantClaim: "tenant", scopeClaim: "scope" },
    claims: {
      iss: issuer,
      aud: audience,
      sub: "user-7",
      tenant: "acme",
      scope: "openid read execute operate",
    },
    pair,
    sign: (claims, key = pair.privateKey, alg = "ES256") =>
      new SignJWT({ exp: inSeconds(60), ...claims }).setProtectedHeader({ alg, kid: "k1" }).sign(key),
    close: () => void server.close(),
  };
}

/** A time in the format of tokens. */
export function inSeconds(seconds: number): number {
  return Math.floor(Date.now() / 1_000) + seconds;
}
