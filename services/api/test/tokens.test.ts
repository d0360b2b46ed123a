/** JSON Web Tokens against a key set that is served over HTTP. */
import { createAddressGuard, createGuardedFetch, type OutboundAddresses } from "@planwright/runtime";
import { exportJWK, generateKeyPair, UnsecuredJWT } from "jose";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createTokens, type TokenSettings } from "../src/access/gate.ts";
import { BLOG_PLAN, type RunningApi, startTestApi } from "./running-api.ts";
import { inSeconds, startTokenIssuer, type TokenIssuer } from "./token-issuer.ts";
import { APPROVAL_HASH, askApprovalAs } from "./workers.ts";

let issuer: TokenIssuer;
let settings: TokenSettings;
let running: RunningApi;
let claims: TokenIssuer["claims"];
let sign: TokenIssuer["sign"];
beforeAll(async () => {
  issuer = await startTokenIssuer();
  ({ settings, claims, sign } = issuer);
  running = await startTestApi({ anonymous: "refuse", tokens: settings });
});
afterAll(async () => {
  await running.close();
  issuer.close();
});

const ask = (token: string, query = "{ requests { nodes { requestId } } }", variables = {}, api = running) =>
  api.graphql(query, variables, { authorization: `Bearer ${token}` });

test("tenant, scopes and name come from the token", async () => {
  const token = await sign(claims);
  const { body } = await ask(
    token,
    "mutation ($plan: JSON!) { submitPlan(plan: $plan) { requestId planId } }",
    {
      plan: BLOG_PLAN,
    },
  );
  const { requestId, planId } = body.data.submitPlan;
  expect(await running.store.getRequest("acme", requestId)).toMatchObject({ tenant: "acme" });
  await askApprovalAs(running.store, planId);
  const approve = `mutation ($id: ID!) { approve(requestId: $id, stepId: "createAuthor", approvalHash: "${APPROVAL_HASH}") {
    plan { approvals { by } } } }`;
  const approved = await ask(token, approve, { id: requestId });
  expect(approved.body.data.approve.plan.approvals).toEqual([{ by: "user-7" }]);
  const other = await ask(await sign({ ...claims, tenant: "globex" }));
  expect(other.body.data.requests.nodes).toEqual([]);
});

test("a key set is read only from allowed addresses, and otherwise every caller is refused", async () => {
  const holder = (allowed: OutboundAddresses, jwksUrl = settings.jwksUrl) =>
    createTokens({ ...settings, jwksUrl, fetch: createGuardedFetch(createAddressGuard(allowed)) });
  const token = await sign(claims);
  expect(await holder("any")(token)).toMatchObject({ name: "user-7", tenant: "acme" });
  await expect(holder("public")(token)).rejects.toMatchObject({
    code: "UNAVAILABLE",
    cause: { code: "ADDRESS_FORBIDDEN" },
  });
  await expect(holder("any", "http://169.254.169.254/keys")(token)).rejects.toMatchObject({
    cause: { code: "ADDRESS_FORBIDDEN" },
  });
});

test("scopes may be a list, and unknown scopes are ignored", async () => {
  expect((await ask(await sign({ ...claims, scope: ["read"] }))).status).toBe(200);
  for (const scope of ["openid readonly", [], undefined, 7, { read: true }]) {
    expect((await ask(await sign({ ...claims, scope }))).status).toBe(403);
  }
});

test("every invalid token is refused with the same message", async () => {
  const stranger = await generateKeyPair("ES256");
  const publicBytes = new TextEncoder().encode(JSON.stringify(await exportJWK(issuer.pair.publicKey)));
  const tokens = [
    await sign({ ...claims, iss: "https://evil.example.org/" }),
    await sign({ ...claims, aud: "another audience" }),
    await sign({ ...claims, exp: inSeconds(-540) }),
    await sign({ ...claims, exp: undefined }),
    await sign({ ...claims, nbf: inSeconds(660) }),
    await sign({ ...claims, sub: undefined }),
    await sign({ ...claims, tenant: undefined }),
    await sign({ ...claims, tenant: "a/b" }),
    await sign({ ...claims, tenant: { $ne: "" } }),
    await sign(claims, stranger.privateKey),
    // The public key as the secret of a symmetric algorithm, and no signature at all.
    await sign(claims, publicBytes, "HS256"),
    new UnsecuredJWT({ ...claims, exp: inSeconds(60) }).encode(),
    `${await sign(claims)}x`,
    "a.b.c",
  ];
  const answers = await Promise.all(tokens.map((token) => ask(token)));
  expect(answers.map(({ status }) => status)).toEqual(tokens.map(() => 401));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
});

test("settings name the claims to use, and how the key set is read", async () => {
  const requested: string[] = [];
  const api = await startTestApi({
    anonymous: "refuse",
    tokens: {
      ...settings,
      tenantClaim: "https://example.org/team",
      scopeClaim: "permissions",
      fetch: (url, init) => {
        requested.push(url);
        return fetch(url, init);
      },
    },
  });
  onTestFinished(() => api.close());
  const others = {
    iss: settings.issuer,
    aud: settings.audience,
    sub: "user-8",
    "https://example.org/team": "acme",
    permissions: ["read"],
  };
  const token = await sign(others);
  expect((await ask(token, undefined, {}, api)).status).toBe(200);
  expect((await ask(token, undefined, {}, api)).status).toBe(200);
  expect(requested).toEqual([settings.jwksUrl]);
});

test("while the key set cannot be read the answer is 503, without the reason", async () => {
  const api = await startTestApi({
    anonymous: "refuse",
    tokens: { ...settings, jwksUrl: "http://127.0.0.1:1/keys" },
  });
  onTestFinished(() => api.close());
  const answer = await ask(await sign(claims), undefined, {}, api);
  expect(answer).toMatchObject({ status: 503, body: { errors: [{ extensions: { code: "UNAVAILABLE" } }] } });
  expect(answer.text).not.toMatch(/127\.0\.0\.1|ECONN|fetch/);
});
