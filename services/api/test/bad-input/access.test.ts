/** Credentials that are none, or not for this; ids of other tenants. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { ScopeSchema } from "@planwright/store";
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { bearer } from "../keys.ts";
import { BLOG_PLAN, type RunningApi, startTestApi } from "../running-api.ts";
import { expandMacros } from "./expand-macros.ts";
import { expectRefusal, expectWell, readCases, slowestAnswer, timed, traces } from "./refusals.ts";

const CredentialSchema = z.strictObject({
  name: z.string(),
  /** The header as it is sent. */
  authorization: z.string().optional(),
  /** A key that was made and ended. */
  key: z.enum(["revoked", "expired"]).optional(),
  /** A token: what differs from one that is accepted; null takes a claim away. Times are seconds from now. */
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
  name: z.string(),
  query: z.string(),
  scopes: z.array(ScopeSchema),
  status: z.number().int(),
  code: z.string(),
  says: z.string().optional(),
});
const file = readCases(
  "access.json",
  z.strictObject({
    /** Addresses that are tried with each credential. */
    ways: z.array(z.strictObject({ name: z.string(), path: z.string() })),
    credentials: z.array(CredentialSchema),
    /** With a key of the tenant "default" that has these scopes. */
    operations: z.array(OperationSchema),
  }),
);
const credentials = file.credentials.flatMap((credential) =>
  file.ways.map((way) => ({ ...credential, name: `${credential.name} at ${way.name}`, path: way.path })),
);

const CLAIMS = {
  iss: "https://id.example.org/",
  aud: "planwright",
  sub: "u",
  tenant: "default",
  scope: "admin",
};
let running: RunningApi;
let keySet: Server;
let issuer: Awaited<ReturnType<typeof generateKeyPair>>;
let ids: Record<string, string>;
beforeAll(async () => {
  issuer = await generateKeyPair("ES256", { extractable: true });
  const jwk = { ...(await exportJWK(issuer.publicKey)), kid: "k1", use: "sig", alg: "ES256" };
  keySet = createServer((_request, response) => void response.end(JSON.stringify({ keys: [jwk] })));
  await once(keySet.listen(0, "127.0.0.1"), "listening");
  running = await startTestApi({
    anonymous: "refuse",
    mcp: { hosts: [] },
    tokens: {
      jwksUrl: `http://127.0.0.1:${(keySet.address() as AddressInfo).port}/keys`,
      issuer: CLAIMS.iss,
      audience: CLAIMS.aud,
      tenantClaim: "tenant",
      scopeClaim: "scope",
    },
  });
  const { body } = await running.graphql(
    "mutation ($plan: JSON!) { submitPlan(plan: $plan) { requestId planId } }",
    { plan: BLOG_PLAN },
    await bearer(running.store, ["execute"], { tenant: "other" }),
  );
  ids = { "other-request": body.data.submitPlan.requestId, "other-plan": body.data.submitPlan.planId };
});
afterAll(async () => {
  await running.close();
  keySet.close();
});

const well = async () => expectWell(running, await bearer(running.store, ["read"]));

describe("a credential that is not accepted", () => {
  afterAll(well);

  test.each(credentials)("$name: 401 UNAUTHENTICATED", async ({ name, path, ...credential }) => {
    const before = await traces(running);
    const authorization = await headerOf(credential);
    const answer = await timed(name, () =>
      running.send(path, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(authorization === undefined ? {} : { authorization }),
        },
        body: '{"query":"{ __typename }"}',
      }),
    );
    expectRefusal(answer, { status: 401, code: "UNAUTHENTICATED" });
    const secret = authorization?.split(" ")[1];
    if (secret && secret.length > 8) expect(answer.text).not.toContain(secret);
    expect(await traces(running)).toEqual(before);
  });
});

describe("an operation that is not for its caller", () => {
  afterAll(well);

  test.each(file.operations)("$name: $code", async (each) => {
    const before = await traces(running);
    const headers = await bearer(running.store, each.scopes);
    const query = expandMacros(each.query, ids);
    expectRefusal(await timed(each.name, () => running.graphql(query, { plan: BLOG_PLAN }, headers)), each);
    expect(await traces(running)).toEqual(before);
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
  const said = Object.entries({ exp: 60, ...CLAIMS, ...claims })
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [name, isTime(name) && typeof value === "number" ? now + value : value]);
  const payload = Object.fromEntries(said);
  if (signedBy === "nobody") return new UnsecuredJWT(payload).encode();
  const publicBytes = () =>
    exportJWK(issuer.publicKey).then((jwk) => new TextEncoder().encode(JSON.stringify(jwk)));
  const stranger = async () => (await generateKeyPair("ES256")).privateKey;
  const key =
    signedBy === "issuer" ? issuer.privateKey : await (signedBy === "stranger" ? stranger() : publicBytes());
  const alg = signedBy === "public key" ? "HS256" : "ES256";
  return new SignJWT(payload).setProtectedHeader({ alg, kid: "k1", ...header }).sign(key);
}

test("the slowest answer is told", async ({ annotate }) => {
  await annotate(slowestAnswer());
});
