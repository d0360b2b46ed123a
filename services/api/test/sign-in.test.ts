/** Tool servers that want a sign-in: a real authorization server, at the front door. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createStore } from "@planwright/store";
import {
  type CountingToolServer,
  type OauthGateway,
  type OauthGatewayOptions,
  type System,
  startCountingToolServer,
  startOauthGateway,
  startSystem,
} from "@planwright/testing";
import { MongoClient } from "mongodb";
import { expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";

interface SignedSystem {
  system: System;
  gateway: OauthGateway;
  /** The tool server behind the gateway. */
  vault: CountingToolServer;
}

/** A system whose server "vault" wants a sign-in. */
async function startSigned(
  options: Omit<OauthGatewayOptions, "target"> = {},
  auth = {},
): Promise<SignedSystem> {
  const folder = await mkdtemp(join(tmpdir(), "planwright-sign-in-"));
  const vault = await startCountingToolServer({ ledgerFile: join(folder, "ledger") });
  const gateway = await startOauthGateway({ target: vault.url, ...options });
  const system = await startSystem({
    env: { DATA_DIR: folder, PUBLIC_URL: "http://planwright.test" },
    mcpServers: { vault: { url: gateway.url, auth } },
  });
  onTestFinished(async () => {
    await system.close();
    await Promise.all([gateway.close(), vault.close()]);
    await rm(folder, { recursive: true, force: true });
  });
  return { system, gateway, vault };
}

async function graphql<Data>(
  system: System,
  { query, data: schema }: { query: string; data: z.ZodType<Data> },
  variables: object = {},
  key?: string,
): Promise<Data> {
  const response = await fetch(system.apiUrl, {
    method: "POST",
    headers: { "content-type": "application/json", ...(key && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = AnswerSchema.parse(await response.json());
  expect(errors).toBeUndefined();
  return schema.parse(data);
}

const AnswerSchema = z.object({ data: z.unknown(), errors: z.unknown().optional() });

const SERVERS = {
  query: "{ toolServers { name state error signIn { isNeeded url since expiresAt error } } }",
  data: z.object({
    toolServers: z.array(
      z.object({
        name: z.string(),
        state: z.string(),
        error: z.string().nullable(),
        signIn: z
          .object({
            isNeeded: z.boolean(),
            url: z.string().nullable(),
            since: z.string().nullable(),
            expiresAt: z.string().nullable(),
            error: z.string().nullable(),
          })
          .nullable(),
      }),
    ),
  }),
};
type Server = z.output<typeof SERVERS.data>["toolServers"][number];

const soon = <Found>(look: () => Promise<Found>): Promise<Found> =>
  vi.waitFor(look, { timeout: 60_000, interval: 20 });

/** The sign-in at the server "vault". */
async function vaultOf(system: System): Promise<Server | undefined> {
  return (await graphql(system, SERVERS)).toolServers.find(({ name }) => name === "vault");
}

const SUBMIT = {
  query: "mutation ($plan: JSON!) { submitPlan(plan: $plan) { requestId } }",
  data: z.object({ submitPlan: z.object({ requestId: z.string() }) }),
};

async function submit(system: System, steps: object[]): Promise<string> {
  return (await graphql(system, SUBMIT, { plan: { steps } })).submitPlan.requestId;
}

const REQUEST = {
  query: `query ($id: ID!) { request(requestId: $id) {
    diagnosis { cause { code message } next { command } }
    plan { status waitReason steps { key waitReason output } } } }`,
  data: z.object({
    request: z.object({
      diagnosis: z.object({
        cause: z.object({ code: z.string(), message: z.string() }),
        next: z.array(z.object({ command: z.array(z.string()) })),
      }),
      plan: z.object({
        status: z.string(),
        waitReason: z.string().nullable(),
        steps: z.array(z.object({ key: z.string(), waitReason: z.string().nullable(), output: z.unknown() })),
      }),
    }),
  }),
};
type Found = z.output<typeof REQUEST.data>["request"];

async function until(system: System, id: string, status: string): Promise<Found> {
  return await soon(async () => {
    const { request } = await graphql(system, REQUEST, { id });
    expect(request.plan.status).toBe(status);
    return request;
  });
}

/** Where a person signs in at the server "vault", as soon as one has to. */
async function askedBy(system: System): Promise<{ url: string; state: string; since: string | null }> {
  return await soon(async () => {
    const signIn = (await vaultOf(system))?.signIn;
    expect(signIn?.isNeeded).toBe(true);
    const url = signIn?.url ?? "";
    return { url, state: new URL(url).searchParams.get("state") ?? "", since: signIn?.since ?? null };
  });
}

/** A person opens the address, signs in, and comes back. */
async function signIn({ system, gateway }: SignedSystem): Promise<{ status: number; text: string }> {
  return await comeBack(system, await gateway.signIn((await askedBy(system)).url));
}

/** Until its tools are in the catalogue. */
const connected = (system: System) =>
  soon(async () => expect(await vaultOf(system)).toMatchObject({ state: "CONNECTED" }));

async function comeBack(system: System, address: string): Promise<{ status: number; text: string }> {
  const { pathname, search, origin } = new URL(address);
  expect(origin).toBe("http://planwright.test");
  const answer = await fetch(new URL(`${pathname}${search}`, system.apiUrl));
  return { status: answer.status, text: await answer.text() };
}

const KEYED = { id: "pay", tool: "vault/keyed_effect", arguments: { value: 1 } };

test("a server is signed in by a person, its token is renewed, and a plan waits while the sign-in has ended", async () => {
  const signed = await startSigned();
  const { system, gateway, vault } = signed;
  const asked = await soon(async () => {
    const found = await vaultOf(system);
    expect(found?.signIn).toMatchObject({ isNeeded: true, error: null, expiresAt: null });
    return found;
  });
  expect(asked).toMatchObject({
    state: "UNREACHABLE",
    error: expect.stringContaining("planwright sign-in vault"),
  });
  expect(await signIn(signed)).toMatchObject({
    status: 200,
    text: expect.stringContaining("Signed in at vault"),
  });
  await connected(system);
  expect((await vaultOf(system))?.signIn).toMatchObject({
    isNeeded: false,
    url: null,
    expiresAt: expect.any(String),
  });
  const first = await submit(system, [KEYED]);
  await until(system, first, "COMPLETED");
  // A connection that was being opened without a token may have renewed the new one.
  const { authorization_code, refresh_token: renewed } = gateway.grants;
  expect(authorization_code).toBe(1);

  gateway.endTokens();
  await until(system, await submit(system, [{ ...KEYED, id: "second" }]), "COMPLETED");
  expect(gateway.grants).toMatchObject({ authorization_code: 1, refresh_token: renewed + 1 });

  await gateway.endSignIns();
  const third = await submit(system, [
    { id: "read", tool: "counting/read_value", arguments: { value: 2 } },
    { ...KEYED, id: "third" },
    { ...KEYED, id: "fourth", dependsOn: ["third"] },
  ]);
  const waiting = await until(system, third, "WAITING");
  expect(waiting.plan.waitReason).toBe("sign-in");
  const step = waiting.plan.steps.find(({ key }) => key === "third");
  expect(step).toMatchObject({ waitReason: "sign-in" });
  expect(waiting.diagnosis.cause).toMatchObject({
    code: "SIGN_IN_NEEDED",
    message: expect.stringContaining("vault"),
  });
  expect(waiting.diagnosis.next[0]?.command).toEqual(["sign-in", "vault"]);
  const list = {
    query: "{ requests(first: 5, filter: { needs: SIGN_IN }) { nodes { requestId } } }",
    data: z.unknown(),
  };
  expect(await graphql(system, list)).toEqual({ requests: { nodes: [{ requestId: third }] } });
  expect(await signIn(signed)).toMatchObject({ status: 200 });
  await until(system, third, "COMPLETED");
  expect(vault.stats()["keyed_effect"]).toMatchObject({ effects: 4 });
});

test("no token is in the database, and an answer of the server shows none", async () => {
  const signed = await startSigned();
  const { system, gateway } = signed;
  await signIn(signed);
  await connected(system);
  const id = await submit(system, [KEYED]);
  await until(system, id, "COMPLETED");
  const [token = ""] = gateway.tokens();
  expect(token).not.toBe("");
  // A server that sends back what it got.
  const echo = await submit(system, [{ id: "echo", tool: "vault/read_value", arguments: { value: token } }]);
  await until(system, echo, "COMPLETED");
  const client = await MongoClient.connect(system.mongodbUrl);
  onTestFinished(() => client.close());
  const collections = await client.db().collections();
  const found = await Promise.all(
    collections.map(async (one) => [one.collectionName, JSON.stringify(await one.find().toArray())] as const),
  );
  expect(found.filter(([, text]) => text.includes("access_token") || text.includes("refresh_token"))).toEqual(
    [],
  );
  const holding = found.filter(([, text]) => text.includes(token)).map(([name]) => name);
  // Only where the plan itself, which a client wrote here, names it.
  expect(holding.toSorted()).toEqual(["journal", "plans"]);
  expect(JSON.stringify(await until(system, echo, "COMPLETED"))).not.toContain(token);
});

test("a refused sign-in says why and is asked for again, and each question is answered once", async () => {
  const signed = await startSigned();
  const { system, gateway } = signed;
  const { state, ...asked } = await askedBy(system);
  const back = (query: Record<string, string>): string =>
    `http://planwright.test/sign-in/callback?${new URLSearchParams(query).toString()}`;
  const refused = { error: "access_denied", error_description: "<b>not today</b>", state };
  for (const wrong of [
    { code: "a" },
    { state },
    { code: "a", state: "b".repeat(43) },
    { ...refused, state: "x" },
  ])
    expect(await comeBack(system, back(wrong))).toMatchObject({ status: 404 });
  const said = await comeBack(system, back(refused));
  expect(said.status).toBe(409);
  expect(said.text).toContain("access_denied: &lt;b&gt;not today&lt;/b&gt;");
  expect(await comeBack(system, back(refused))).toMatchObject({ status: 404 });
  const again = await askedBy(system);
  expect((await vaultOf(system))?.signIn).toMatchObject({
    isNeeded: true,
    error: "access_denied: <b>not today</b>",
    since: asked.since,
  });
  expect(again.url).not.toBe(asked.url);
  const wrongCode = await comeBack(
    system,
    back({
      code: "wrong",
      iss: new URL(gateway.url).origin,
      state: new URL(again.url).searchParams.get("state") ?? "",
    }),
  );
  expect(wrongCode).toMatchObject({ status: 409, text: expect.stringContaining("Not signed in at vault") });
  expect(await signIn(signed)).toMatchObject({ status: 200 });
  expect((await vaultOf(system))?.signIn).toMatchObject({ isNeeded: false, error: null });
});

test("only an admin sees where to sign in", async () => {
  const { system } = await startSigned();
  await askedBy(system);
  const store = await createStore({ url: system.mongodbUrl });
  onTestFinished(() => store.close());
  const { secret } = await store.createApiKey({
    tenant: "acme",
    name: "operator",
    scopes: ["read", "operate"],
  });
  const { toolServers } = await graphql(system, SERVERS, {}, secret);
  expect(toolServers.find(({ name }) => name === "vault")?.signIn).toMatchObject({
    isNeeded: true,
    url: null,
  });
});

test("an executor with the credentials of a client signs in without a person", async () => {
  const client = { id: "planwright", secret: "a secret of the client" };
  const { system, gateway } = await startSigned(
    { client },
    { grant: "client_credentials", clientId: client.id, clientSecret: client.secret, scopes: ["use"] },
  );
  await connected(system);
  await until(system, await submit(system, [KEYED]), "COMPLETED");
  gateway.endTokens();
  await until(system, await submit(system, [{ ...KEYED, id: "second" }]), "COMPLETED");
  expect(gateway.grants).toEqual({ authorization_code: 0, refresh_token: 0, client_credentials: 2 });
});

test("a client whose credentials are refused is a server that cannot be reached, and the secret is not shown", async () => {
  const { system } = await startSigned(
    { client: { id: "planwright", secret: "another secret" } },
    { grant: "client_credentials", clientId: "planwright", clientSecret: "wrong-secret-of-a-client" },
  );
  const vault = await soon(async () => {
    const found = await vaultOf(system);
    expect(found?.error).toEqual(expect.any(String));
    return found;
  });
  expect(vault).toMatchObject({ state: "UNREACHABLE", signIn: { isNeeded: false } });
  expect(vault?.error).toMatch(/client/i);
  expect(JSON.stringify([vault, system.loggedProblems()])).not.toContain("wrong-secret-of-a-client");
});
