/** Invalid credentials, credentials without the needed scope, and ids of other tenants. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { ScopeSchema } from "@planwright/store";
import { testAndProof } from "@planwright/testing";
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { bearer } from "../keys.ts";
import { BLOG_PLAN } from "../running-api.ts";
import { expandMacros } from "./expand-macros.ts";
import { expectRefusal, RefusalSchema, readCases } from "./refusals.ts";
import { type RunningSystem, startRunningSystem } from "./running-system.ts";

const CredentialSchema = z.strictObject({
  name: z.string(),
  /** The header as sent. */
  authorization: z.string().optional(),
  /** A key that was created and then revoked or has expired. */
  key: z.enum(["revoked", "expired"]).optional(),
  /** Differences from an accepted token; null removes a claim. Times are seconds from now. */
  token: z
    .strictObject({
      signedBy: z.enum(["issuer", "stranger", "public key", "nobody"]).default("issuer"),
      claims: z.record(z.string(), z.json()).default({}),
      header: z.record(z.string(), z.json()).default({}),
      append: z.string().default(""),
    })
    .optional(),
});
const OperationSchema = z.strictObject({
  ...RefusalSchema,
  query: z.string(),
  scopes: z.array(ScopeSchema),
});
const file = readCases(
  "access.json",
  z.strictObject({
    /** Paths that are tried with each credential. */
    ways: z.array(z.strictObject({ name: z.string(), path: z.string() })),
    credentials: z.array(CredentialSchema),
    /** With a key of the tenant "default" that has these scopes. */
    operations: z.array(OperationSchema),
  }),
);
const credentials = file.credentials.flatMap((credential) =>
  file.ways.map((way) => ({ ...credential, name: `${credential.name} at ${way.name}`, path: way.path })),
);
/** For `npm test`: every credential once, and at every path some of them. */
const eachCredential = file.credentials.map(
  (_, index) => credentials[index * file.ways.length + (index % file.ways.length)]?.name ?? "",
);

const CLAIMS = {
  iss: "https://id.example.org/",
  aud: "planwright",
  sub: "u",
  tenant: "default",
  scope: "admin",
};
let running: RunningSystem;
let keySet: Server;
let issuer: Awaited<ReturnType<typeof generateKeyPair>>;
let ids: Record<string, string>;
beforeAll(async () => {
  issuer = await generateKeyPair("ES256", { extractable: true });
  const jwk = { ...(await exportJWK(issuer.publicKey)), kid: "k1", use: "sig", alg: "ES256" };
  keySet = createServer((_request, response) => void response.end(JSON.stringify({ keys: [jwk] })));
  await once(keySet.listen(0, "127.0.0.1"), "listening");
  running = await startRunningSystem("access.json", {
    api: {
      ANONYMOUS: "refuse",
      MCP: "on",
      JWKS_URL: `http://127.0.0.1:${(keySet.address() as AddressInfo).port}/keys`,
      JWT_ISSUER: CLAIMS.iss,
      JWT_AUDIENCE: CLAIMS.aud,
    },
  });
  const { body } = await running.graphql(
    "mutation ($plan: JSON!) { submitPlan(plan: $plan, execute: false) { requestId planId } }",
    { plan: BLOG_PLAN },
    await bearer(running.store, ["execute"], { tenant: "other" }),
  );
  ids = { "other-request": body.data.submitPlan.requestId, "other-plan": body.data.submitPlan.planId };
});
afterAll(async () => {
  await running.close();
  keySet.close();
});

describe("an invalid credential", () => {
  afterAll(() => running.expectWorking());

  for (const { cases, options } of testAndProof(credentials, ({ name }) => name, eachCredential))
    test.each(cases)("$name: 401 UNAUTHENTICATED", options, async ({ name, path, ...credential }) => {
      const authorization = await headerOf(credential);
      const headers = authorization === undefined ? {} : { authorization };
      const answer = await running.play(name, () =>
        running.post(path, { query: "{ __typename }" }, { headers }),
      );
      expectRefusal(answer, { status: 401, code: "UNAUTHENTICATED" });
      const secret = authorization?.split(" ")[1];
      if (secret && secret.length > 8) expect(answer.text).not.toContain(secret);
    });
});

describe("an operation that its caller may not use", () => {
  afterAll(() => running.expectWorking());

  test.each(file.operations)("$name: $code", async (each) => {
    const { name, query, scopes } = each;
    const headers = await bearer(running.store, scopes);
    const message = { query, variables: { plan: BLOG_PLAN } };
    const answer = await running.play(name, () => running.post("/graphql", message, { headers, ids }));
    expectRefusal(answer, each);
  });
});

async function headerOf({
  authorization,
  key,
  token,
}: Omit<z.infer<typeof CredentialSchema>, "name">): Promise<string | undefined> {
  if (key) {
    const expiresAt = key === "expired" ? new Date(Date.now() - 60_000) : undefined;
    const made = await running.store.createApiKey({
      tenant: "default",
      name: key,
      scopes: ["admin"],
      expiresAt,
    });
    if (key === "revoked") await running.store.revokeApiKey(made.key._id);
    return `Bearer ${made.secret}`;
  }
  if (token) return `Bearer ${await tokenOf(token)}${token.append}`;
  return authorization === undefined ? undefined : expandMacros(authorization);
}

async function tokenOf({ signedBy, claims, header }: NonNullable<z.infer<typeof CredentialSchema>["token"]>) {
  const now = Math.floor(Date.now() / 1_000);
  const isTime = (name: string) => name === "exp" || name === "nbf";
  const allClaims = Object.entries({ exp: 60, ...CLAIMS, ...claims })
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [name, isTime(name) && typeof value === "number" ? now + value : value]);
  const payload = Object.fromEntries(allClaims);
  if (signedBy === "nobody") return new UnsecuredJWT(payload).encode();
  const publicBytes = () =>
    exportJWK(issuer.publicKey).then((jwk) => new TextEncoder().encode(JSON.stringify(jwk)));
  const stranger = async () => (await generateKeyPair("ES256")).privateKey;
  const key =
    signedBy === "issuer" ? issuer.privateKey : await (signedBy === "stranger" ? stranger() : publicBytes());
  const alg = signedBy === "public key" ? "HS256" : "ES256";
  return new SignJWT(payload).setProtectedHeader({ alg, kid: "k1", ...header }).sign(key);
}
