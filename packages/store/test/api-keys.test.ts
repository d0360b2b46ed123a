import { createStore, isApiKeyShaped, type Store } from "@planwright/store";
import { testServers } from "@planwright/testing";
import { MongoClient } from "mongodb";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";

let store: Store;
let url: string;
beforeAll(async () => {
  url = testServers().mongodbUrl;
  store = await createStore({ url });
});
afterAll(() => store.close());

const NEW = { tenant: "acme", name: "ci", scopes: ["read", "execute"] } as const;
const create = (more: { expiresAt?: Date } = {}) =>
  store.createApiKey({ ...NEW, scopes: [...NEW.scopes], ...more });

test("a key is found by its secret, and the secret is not in the database", async () => {
  const { secret, key } = await create();
  expect(isApiKeyShaped(secret)).toBe(true);
  expect(await store.findApiKey(secret)).toEqual(key);
  const client = await MongoClient.connect(url);
  onTestFinished(() => client.close());
  const keys = client.db().collection("apiKeys");
  const stored = JSON.stringify(await keys.find({ tenant: "acme" }).toArray());
  expect(stored).toContain(key._id);
  expect(stored).not.toContain(secret.slice(3));
  const plan = await keys.find({ hash: "0".repeat(64) }).explain("queryPlanner");
  expect(JSON.stringify(plan)).toContain("IXSCAN");
});

test("an expired, a revoked and an unknown key are not found", async () => {
  const expired = await create({ expiresAt: new Date(Date.now() - 60_000) });
  const revoked = await create();
  const first = await store.revokeApiKey(revoked.key._id);
  expect(first?.revokedAt).toBeInstanceOf(Date);
  expect(await store.revokeApiKey(revoked.key._id)).toEqual(first);
  for (const secret of [expired.secret, revoked.secret, `pw_${"a".repeat(43)}`]) {
    expect(await store.findApiKey(secret)).toBeNull();
  }
  expect(await store.revokeApiKey("key_nothing")).toBeNull();
});

test("the valid keys of many are one read", async () => {
  const [valid, revoked, later, expired] = await Promise.all([
    create(),
    create(),
    create({ expiresAt: new Date(Date.now() + 60_000) }),
    create({ expiresAt: new Date(Date.now() - 60_000) }),
  ]);
  await store.revokeApiKey(revoked.key._id);
  const ids = [valid, revoked, later, expired].map(({ key }) => key._id);
  expect(await store.findValidKeys([...ids, "key_nothing"])).toEqual(new Set([valid.key._id, later.key._id]));
  expect(await store.findValidKeys([])).toEqual(new Set());
});

test("lists have the keys of one tenant or of all, without hashes, with the time of the last use", async () => {
  const { key } = await create();
  await store.touchApiKey(key._id);
  const other = await store.createApiKey({ tenant: "globex", name: "ops", scopes: ["admin"] });
  const own = await store.listApiKeys("acme");
  expect(own.find(({ _id }) => _id === key._id)?.lastUsedAt).toBeInstanceOf(Date);
  expect(own.some((one) => one.tenant !== "acme" || "hash" in one)).toBe(false);
  expect((await store.listApiKeys()).map(({ _id }) => _id)).toContain(other.key._id);
});

test.each([
  ["a tenant", { tenant: "a b" }],
  ["a name", { name: "line\nbreak" }],
  ["scopes", { scopes: [] }],
])("%s that is not valid: the key is refused", async (_what, wrong) => {
  await expect(store.createApiKey({ ...NEW, scopes: ["read"], ...wrong })).rejects.toThrow();
});
