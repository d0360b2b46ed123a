/** The sign-in at a tool server, shared by executors over a real database and a real authorization server. */
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAddressGuard, createGuardedFetch } from "@planwright/runtime";
import { createStore, type Store } from "@planwright/store";
import {
  type OauthGateway,
  startCountingToolServer,
  startOauthGateway,
  testServers,
} from "@planwright/testing";
import { createToolClients, parseServers, type ToolClients } from "@planwright/tools";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { createSignInChecks, createSignIns, readSignInKey } from "../src/sign-ins.ts";

const KEY = randomBytes(32);
const soon = (look: () => Promise<void> | void) => vi.waitFor(look, { timeout: 60_000, interval: 20 });

let store: Store;
let gateway: OauthGateway;
let folder: string;
let warnings: string[];
beforeEach(async () => {
  warnings = [];
  folder = await mkdtemp(join(tmpdir(), "planwright-sign-ins-"));
  const vault = await startCountingToolServer({ ledgerFile: join(folder, "ledger") });
  gateway = await startOauthGateway({ target: vault.url });
  store = await createStore({ url: testServers().mongodbUrl });
  return async () => {
    await Promise.all([gateway.close(), vault.close(), store.close()]);
    await rm(folder, { recursive: true, force: true });
  };
});

/** The tool clients of one executor. */
async function startExecutor(key: Uint8Array = KEY, url = gateway.url): Promise<ToolClients> {
  const signIns = createSignIns({
    store,
    key: async () => key,
    redirectUrl: "http://planwright.test/sign-in/callback",
    fetch: createGuardedFetch(createAddressGuard("any")),
    logger: { warn: (_facts: object, message = "") => void warnings.push(message) },
  });
  const tools = createToolClients(parseServers({ mcpServers: { vault: { url, auth: {} } } }), { signIns });
  onTestFinished(() => tools.close());
  await tools.start();
  return tools;
}

/** Does what the API and a person do. */
async function signIn(): Promise<void> {
  const [asked] = await store.signIns();
  const query = new URL(await gateway.signIn(asked?.asked?.authorizationUrl ?? "")).searchParams;
  const answer = { code: query.get("code") ?? "", iss: query.get("iss") };
  expect(await store.answerSignIn(query.get("state") ?? "", answer)).toBe("vault");
}

const call = (tools: ToolClients) =>
  tools.callTool({ tool: "read_value", server: "vault", arguments: { value: 1 }, timeoutMs: 30_000 });

async function signedExecutors(count: number): Promise<ToolClients[]> {
  const all = await Promise.all(Array.from({ length: count }, () => startExecutor()));
  await soon(() => {
    for (const tools of all) expect(tools.needsSignIn("vault")).toBe(true);
  });
  expect(await store.signIns()).toHaveLength(1);
  await signIn();
  await soon(async () => {
    await Promise.all(all.map((tools) => tools.checkSignIns()));
    for (const tools of all) expect(tools.needsSignIn("vault")).toBe(false);
    for (const tools of all) expect(tools.status()).toMatchObject([{ state: "connected" }]);
  });
  return all;
}

test("several executors ask a person once, exchange one code, and use each refresh token once", async () => {
  const executors = await signedExecutors(3);
  expect(gateway.grants).toMatchObject({ authorization_code: 1, refresh_token: 0 });
  for (let round = 1; round <= 3; round += 1) {
    gateway.endTokens();
    const outcomes = await Promise.all(executors.flatMap((tools) => [call(tools), call(tools), call(tools)]));
    expect(outcomes.map(({ type }) => type)).toEqual(Array.from({ length: 9 }, () => "completed"));
    expect(gateway.grants).toMatchObject({ authorization_code: 1, refresh_token: round });
  }
});

test("a call whose token was refused late uses the one that another call got meanwhile", async () => {
  const [tools = expect.unreachable()] = await signedExecutors(1);
  const before = gateway.grants.refresh_token;
  gateway.endTokens();
  const held = gateway.holdRefusal();
  const late = call(tools);
  const sendRefusal = await held;
  expect(await call(tools)).toMatchObject({ type: "completed" });
  sendRefusal();
  expect(await late).toMatchObject({ type: "completed" });
  expect(gateway.grants.refresh_token).toBe(before + 1);
});

test("an executor that starts uses the sign-in of the others, unless its key or the address of the server is another", async () => {
  await signedExecutors(1);
  const second = await startExecutor();
  await soon(() => expect(second.status()).toMatchObject([{ state: "connected" }]));
  const other = gateway.url.replace("127.0.0.1", "localhost");
  const sent = gateway.tokens().length;
  const moved = await startExecutor(KEY, other);
  await soon(() => expect(moved.status()).toMatchObject([{ error: expect.any(String) }]));
  expect(gateway.tokens()).toHaveLength(sent);
  const stranger = await startExecutor(randomBytes(32));
  await soon(() => expect(stranger.needsSignIn("vault")).toBe(true));
  expect(warnings[0]).toContain("SIGN_IN_KEY");
});

test("a sign-in that a dead executor held is changed by another one when that time is over", async () => {
  expect(await store.holdSignIn("vault", "dead", 600)).toBe(true);
  expect(await store.holdSignIn("vault", "alive", 600)).toBe(false);
  const tools = await startExecutor();
  await soon(() => expect(tools.needsSignIn("vault")).toBe(true));
  const late = { url: "x", sealed: "x", tokensEndAt: null, asked: null, error: null };
  expect(await store.storeSignIn("vault", "dead", late)).toBe(false);
  expect((await store.signIns())[0]?.asked).not.toBeNull();
});

test("a server without a sign-in in the servers file has none in the database", async () => {
  await startExecutor();
  await soon(async () => expect(await store.signIns()).toHaveLength(1));
  await store.keepOnlyServers(["vault"], ["vault"]);
  expect(await store.signIns()).toHaveLength(1);
  await store.keepOnlyServers(["vault"]);
  expect(await store.signIns()).toEqual([]);
});

test("what waits for a sign-in is told once, and not after it was taken back", async () => {
  const tools = await startExecutor();
  await soon(() => expect(tools.needsSignIn("vault")).toBe(true));
  const told: string[] = [];
  tools.onSignedIn("vault", () => told.push("first"));
  tools.onSignedIn("vault", () => told.push("second"))();
  await tools.checkSignIns();
  expect(told).toEqual([]);
  await signIn();
  // The executor checks by itself too, so its own check may be the one that finds the sign-in.
  await tools.checkSignIns();
  await soon(() => expect(told).toEqual(["first"]));
  await tools.checkSignIns();
  expect(told).toEqual(["first"]);
});

test("without SIGN_IN_KEY the key is made once, for its user alone, and a file without a key is refused", async () => {
  const DATA_DIR = join(folder, "data");
  const settings = { SIGN_IN_KEY: undefined, DATA_DIR };
  const [one, other] = await Promise.all([readSignInKey(settings), readSignInKey(settings)]);
  expect(one).toEqual(other);
  const file = join(DATA_DIR, "sign-in.key");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(Buffer.from(await readFile(file, "utf8"), "hex")).toEqual(one);
  expect(await readSignInKey({ SIGN_IN_KEY: "ab".repeat(32), DATA_DIR })).toEqual(Buffer.alloc(32, 0xab));
  await writeFile(file, "no key");
  await expect(readSignInKey(settings)).rejects.toThrow(file);
});

test("the end of a sign-in is told until that has worked, also while another server needs one, and again after 30 s", async () => {
  const wakes: number[] = [];
  const needed = new Set(["other"]);
  let ended = ["vault"];
  let nowMs = 0;
  let isDown = true;
  const checks = createSignInChecks({
    store: {
      async wakeSignIns() {
        if (isDown) throw new TypeError("the database is away");
        return wakes.push(nowMs);
      },
    },
    tools: { checkSignIns: async () => ended.splice(0), needsSignIn: (server) => needed.has(server) },
    servers: ["vault", "other"],
    now: () => nowMs,
    logger: { info: () => undefined },
  });
  await expect(checks.check()).rejects.toThrow("the database is away");
  isDown = false;
  await checks.check();
  expect(wakes).toEqual([0]);
  for (nowMs of [100, 40_000]) await checks.check();
  needed.clear();
  for (nowMs of [40_100, 60_000, 70_200]) await checks.check();
  expect(wakes).toEqual([0, 40_100, 70_200]);
  ended = ["other"];
  await checks.check();
  expect(wakes).toEqual([0, 40_100, 70_200, 70_200]);
});
