/** The commands of operators: API keys, upgrade, storage, backup and restore. */
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { gunzipSync, gzipSync } from "node:zlib";
import { startMongo } from "@planwright/local";
import { BackupFileError, createStore, restoreDatabase } from "@planwright/store";
import { spawnService, startServerProxy, testServers } from "@planwright/testing";
import { BSON, type Document, MongoClient, MongoServerError, type Timestamp } from "mongodb";
import { expect, onTestFinished, test } from "vitest";
import { CommandUsageError, parseKeysCommand, runKeysCommand } from "../src/access/keys-command.ts";

test("a key is created, listed and revoked", async () => {
  const store = await createStore({ url: testServers().mongodbUrl });
  onTestFinished(() => store.close());
  const run = async (args: string) => {
    const printed: string[] = [];
    const messages: string[] = [];
    const output = {
      print: (line: string) => void printed.push(line),
      say: (line: string) => void messages.push(line),
    };
    await runKeysCommand(parseKeysCommand(args.split(" "), Date.now())!, store, output);
    return { printed, messages: messages.join("\n") };
  };
  const made = await run("create --tenant acme --scope read,execute --scope operate --name ci --days 90");
  const [secret = ""] = made.printed;
  const key = await store.findApiKey(secret);
  expect(key).toMatchObject({ tenant: "acme", name: "ci", scopes: ["read", "execute", "operate"] });
  expect(key!.expiresAt!.getTime() - key!.createdAt.getTime()).toBeGreaterThan(89 * 86_400_000);
  expect(made.messages).not.toContain(secret);

  await run("create --tenant globex --scope admin");
  const listed = await run("list --tenant acme");
  expect(listed.printed).toHaveLength(1);
  expect(listed.printed[0]).toMatch(new RegExp(`^${key!._id} +acme +read,execute,operate .* ci$`));
  await run(`revoke ${key!._id}`);
  expect(await store.findApiKey(secret)).toBeNull();
  expect((await run("list")).printed.join("\n")).toContain("revoked");
  await expect(run("revoke key_nothing")).rejects.toThrow(CommandUsageError);
});

test("limits of a tenant are set, shown with those of all tenants, and set back", async () => {
  const store = await createStore({ url: testServers().mongodbUrl });
  onTestFinished(() => store.close());
  const run = async (args: string) => {
    const printed: string[] = [];
    const output = { print: (line: string) => void printed.push(line), say: () => undefined };
    await runKeysCommand(parseKeysCommand(args.split(" "), Date.now())!, store, output);
    return printed;
  };
  await store.createApiKey({ tenant: "initech", name: "ci", scopes: ["read"] });
  const set =
    "umbrella  max-unfinished-plans 5  max-subscriptions default  max-connections default  max-model-calls-per-hour 200  weight 2";
  expect(
    await run("tenant set umbrella --max-unfinished-plans 5 --weight 2 --max-model-calls-per-hour 200"),
  ).toEqual([set]);
  expect(await run("tenant show umbrella")).toEqual([set]);
  const none =
    "max-unfinished-plans default  max-subscriptions default  max-connections default  max-model-calls-per-hour default  weight default";
  expect(await run("tenant list")).toEqual(expect.arrayContaining([`initech  ${none}`, set]));
  expect(await store.tenantWeights()).toEqual(new Map([["umbrella", 2]]));
  await run(
    "tenant set umbrella --max-unfinished-plans default --weight default --max-model-calls-per-hour default",
  );
  expect(await run("tenant show umbrella")).toEqual([`umbrella  ${none}`]);
});

test.each([
  ["create --scope read", "--tenant"],
  ["create --tenant acme", "--scope"],
  ["create --tenant acme --scope rule", "--scope"],
  ["create --tenant a/b --scope read", "--tenant"],
  ["create --tenant acme --scope read --days many", "--days"],
  ["revoke", "list"],
  ["remove key_1", "create, list, revoke or tenant"],
  ["tenant", "tenant list, show or set"],
  ["tenant set acme", "at least one limit"],
  ["tenant set a/b --weight 2", "name of a tenant"],
  ["tenant set acme --weight 0", "--weight"],
  ["tenant set acme --max-unfinished-plans many", "--max-unfinished-plans"],
  ["list --tennant acme", "--tennant"],
])("keys %s names the wrong part", (args, hint) => {
  expect(() => parseKeysCommand(args.split(" "), 0)).toThrow(hint);
});

async function run(args: string[], env: Record<string, string>) {
  const child = spawnService("operate", env, args);
  const [out, err, [code]] = await Promise.all([
    text(child.stdout ?? expect.unreachable()),
    text(child.stderr ?? expect.unreachable()),
    once(child, "exit"),
  ]);
  return { out, err, code };
}

test("the program prints a key that a script can read, and names a missing setting", async () => {
  const { mongodbUrl } = testServers();
  const made = await run(["keys", "create", "--tenant", "acme", "--scope", "read"], {
    MONGODB_URL: mongodbUrl,
  });
  expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^pw_[\w-]{43}\n$/) });
  expect(await run(["keys", "list"], {})).toMatchObject({
    code: 1,
    err: expect.stringContaining("MONGODB_URL"),
  });
});

test("upgrade says what it would convert, converts it, and then has nothing to do", async () => {
  const MONGODB_URL = testServers().mongodbUrl;
  const client = await MongoClient.connect(MONGODB_URL);
  onTestFinished(() => client.close());
  const meta = client.db().collection<{ _id: string; version: number }>("meta");
  await meta.insertOne({ _id: "format", version: 6 });
  await client.db().collection("outbox").insertOne({ requestId: "req_1" });
  const checked = await run(["upgrade", "--check"], { MONGODB_URL });
  expect(checked).toMatchObject({ code: 0, err: "" });
  expect(checked.out).toContain("has format 6; this version writes format 7");
  expect(checked.out).toContain("in the outbox (1 document)");
  expect(checked.out).toContain("planwright backup planwright.backup");
  expect((await meta.findOne())?.version).toBe(6);
  expect(await run(["upgrade"], { MONGODB_URL })).toMatchObject({
    code: 0,
    err: "Format 7: 0 done, 1 left\nFormat 7: 1 done, 0 left\n",
    out: expect.stringContaining("Done: the database has format 7."),
  });
  expect((await run(["upgrade"], { MONGODB_URL })).out).toContain("Nothing to convert");
  await meta.updateOne({ _id: "format" }, { $set: { version: 8 } });
  expect(await run(["upgrade"], { MONGODB_URL })).toMatchObject({
    code: 1,
    err: expect.stringContaining("install the version that wrote it, or a later one"),
  });
});

test("storage prints tables of what the database holds, or the figures as JSON", async () => {
  const { mongodbUrl, redisPrefix } = testServers();
  const unused = new URL(mongodbUrl);
  unused.pathname = `/${redisPrefix}`;
  const MONGODB_URL = unused.href;
  expect((await run(["storage"], { MONGODB_URL })).out).toContain("is empty");
  const store = await createStore({ url: MONGODB_URL });
  onTestFinished(() => store.close());
  await store.createRequest({ tenant: "acme", query: "Create author Alice", autoExecute: true });
  const { out, code } = await run(["storage"], { MONGODB_URL, RETENTION_DAYS: "7" });
  expect(code).toBe(0);
  expect(out).toMatch(/^heads +1 +\d+ B/m);
  expect(out).toMatch(/^acme +1 +\S+ \S+ +0 B +0 B +0 B +\S+ \S+$/m);
  expect(out).toContain("removes requests 7 days after their last change");
  expect(out).toMatch(/^not before it has ended +1 /m);
  const late = await run(["storage", "--scan-ms", "0"], { MONGODB_URL });
  expect(late.out).toContain("The time was over");
  expect(late.out).not.toContain("acme");
  for (const wrong of [["--typo"], ["--scan-ms", "soon"]])
    expect(await run(["storage", ...wrong], { MONGODB_URL })).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^storage takes --json/),
    });
  const json = await run(["storage", "--json", "--scan-ms", "30000"], { MONGODB_URL });
  expect(JSON.parse(json.out)).toMatchObject({
    retentionDays: 30,
    shares: expect.arrayContaining([
      expect.objectContaining({ collection: "requests", tenant: "acme", freed: "unfinished", documents: 1 }),
    ]),
  });
});

/** A database with some requests, and a file for its backup. */
async function withRequests() {
  const MONGODB_URL = testServers().mongodbUrl;
  const folder = await mkdtemp(join(tmpdir(), "planwright-backup-"));
  const store = await createStore({ url: MONGODB_URL });
  onTestFinished(async () => {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });
  for (const tenant of ["acme", "globex"])
    await store.createRequest({ tenant, query: "Create author Alice", autoExecute: true });
  return { MONGODB_URL, store, file: join(folder, "planwright.backup") };
}

/** The backup with another header, and a checksum that fits. */
function withHeader(file: Buffer, change: object): Buffer {
  const bytes = gunzipSync(file);
  const headerBytes = bytes.readInt32LE();
  const header = { ...BSON.deserialize(bytes.subarray(0, headerBytes)), ...change };
  // The trailer follows two separators; it is the last document.
  const trailerAt = bytes.lastIndexOf(Buffer.alloc(8)) + 8;
  const before = Buffer.concat([BSON.serialize(header), bytes.subarray(headerBytes, trailerAt)]);
  const { counts } = BSON.deserialize(bytes.subarray(trailerAt));
  const sha256 = createHash("sha256").update(before).digest("hex");
  return gzipSync(Buffer.concat([before, BSON.serialize({ counts, sha256 })]));
}

test("backup writes a new file for its owner alone, and restore fills an empty database with the same documents", async () => {
  const { MONGODB_URL, file } = await withRequests();
  const made = await run(["backup", file], { MONGODB_URL });
  expect(made).toMatchObject({ code: 0, err: "" });
  expect(made.out).toMatch(/^Wrote 2 requests \(\d+ documents, format 7\) as of \S+ to \S+\.\n$/);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const again = await run(["backup", file], { MONGODB_URL });
  expect(again).toMatchObject({ code: 1, err: expect.stringContaining("exists already; name another file") });

  const target = testServers().mongodbUrl;
  const restored = await run(["restore", file], { MONGODB_URL: target });
  expect(restored).toMatchObject({ code: 0, err: "" });
  expect(restored.out).toMatch(/^2 requests had no plan yet: .* planwright execute starts one:$/m);
  expect(restored.out).toMatch(/^ {2}req_\S+ {2}acme$/m);
  const client = await MongoClient.connect(target);
  onTestFinished(() => client.close());
  expect(await client.db().collection("requests").countDocuments({ autoExecute: false })).toBe(2);
  expect(await client.db().collection("meta").findOne()).toMatchObject({ version: 7 });
  expect((await client.db().collection("plans").indexes()).length).toBeGreaterThan(5);
});

test("a file that is cut, changed, foreign, or of a later version is refused in one line, and nothing is written", async () => {
  const { MONGODB_URL, file } = await withRequests();
  await run(["backup", file], { MONGODB_URL });
  const whole = await readFile(file);
  const content = gunzipSync(whole);
  const changed = Buffer.from(content);
  const at = changed.indexOf("Create author Alice");
  changed.write("D", at);
  const damaged = "it was cut or changed";
  const target = testServers().mongodbUrl;
  const cases: [bytes: Buffer, says: string][] = [
    [whole.subarray(0, whole.length - 20), damaged],
    [gzipSync(content.subarray(0, content.length - 40)), damaged],
    [gzipSync(changed), damaged],
    [gzipSync(content.subarray(0, content.readInt32LE())), damaged],
    [Buffer.from("{}"), "it is not a backup of Planwright"],
    [gzipSync(BSON.serialize({ other: 1 })), "it is not a backup of Planwright"],
    [withHeader(whole, { format: 8 }), "it has format 8 of Planwright"],
    [withHeader(whole, { planwrightBackup: 2 }), "in a layout that this version does not read"],
  ];
  for (const [bytes, says] of cases) {
    await writeFile(file, bytes);
    const refused = restoreDatabase({ url: target }, { path: file });
    await expect(refused).rejects.toThrow(BackupFileError);
    await expect(refused).rejects.toThrow(says);
    await expect(refused).rejects.not.toThrow("\n");
  }
  const missing = await run(["restore", `${file}.none`], { MONGODB_URL: target });
  expect(missing).toMatchObject({ code: 1, err: expect.stringContaining("no such file") });
  const client = await MongoClient.connect(target);
  onTestFinished(() => client.close());
  // The database may have the empty collections of an earlier file's test.
  const listed = await client.db().listCollections().toArray();
  const counts = listed.map(({ name }) => client.db().collection(name).countDocuments());
  expect(await Promise.all(counts)).toEqual(listed.map(() => 0));
});

test("a restore refuses a database with records, and one that is not complete is opened by no process", async () => {
  const { MONGODB_URL, file } = await withRequests();
  await run(["backup", file], { MONGODB_URL });
  const refused = await run(["restore", file], { MONGODB_URL });
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("is not empty") });
  expect(refused.err).toContain("name a new database in MONGODB_URL");

  const target = testServers().mongodbUrl;
  const client = await MongoClient.connect(target);
  onTestFinished(() => client.close());
  await client
    .db()
    .collection<{ _id: string; version: number }>("meta")
    .insertOne({ _id: "format", version: 0 });
  await expect(createStore({ url: target })).rejects.toThrow(/is being restored .* drop the database/);
  for (const wrong of [[], ["a", "b"], ["a", "--typo"]])
    expect(await run(["restore", ...wrong], { MONGODB_URL: target })).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^restore takes the name of one file/),
    });
});

/** A MongoDB of this test alone, which keeps no history: its parameter would change other tests. */
async function withoutHistory() {
  const dataDir = await mkdtemp(join(tmpdir(), "planwright-history-"));
  const mongo = await startMongo({ dataDir, env: { ...process.env, MONGODB_URL: "" } });
  const client = await MongoClient.connect(mongo.url);
  onTestFinished(async () => {
    await client.close();
    await mongo.kill();
    await rm(dataDir, { recursive: true, force: true });
  });
  await client.db("admin").command({ setParameter: 1, minSnapshotHistoryWindowInSeconds: 0 });
  return { client, db: client.db("planwright"), url: mongo.url };
}

test("a backup that loses its snapshot ends in one line, and leaves no file", async () => {
  const { client, db, url } = await withoutHistory();
  await (await createStore({ url: url.replace("/?", "/planwright?") })).close();
  const outputs = db.collection("outputs");
  // More than the sockets on the way hold, so that the backup asks for more after the pause.
  for (let part = 0; part < 8; part += 1)
    await outputs.insertMany(Array.from({ length: 8 }, () => ({ json: randomBytes(1_048_576) })));
  const folder = await mkdtemp(join(tmpdir(), "planwright-backup-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const proxy = await startServerProxy(url);
  onTestFinished(() => proxy.close());

  const running = run(["backup", join(folder, "planwright.backup")], {
    MONGODB_URL: proxy.url.replace("/?", "/planwright?"),
  });
  const cursors = (): Promise<Document[]> =>
    client
      .db("admin")
      .aggregate([
        { $currentOp: { idleCursors: true } },
        { $match: { ns: "planwright.outputs", cursor: { $exists: true } } },
      ])
      .toArray();
  await expect.poll(async () => (await cursors()).length, { timeout: 10_000 }).toBeGreaterThan(0);
  proxy.freeze();
  expect(await readdir(folder)).toEqual(["planwright.backup"]);
  // A time after that of the snapshot: when MongoDB has forgotten it, the snapshot is lost.
  const { operationTime } = await db.command({ insert: "removals", documents: [{ requestId: "r" }] });
  const readAt = async (atClusterTime: Timestamp): Promise<unknown> => {
    await db.collection("removals").insertOne({ requestId: "r" }, { writeConcern: { w: "majority" } });
    const readConcern = { level: "snapshot", atClusterTime };
    const failed = (error: unknown): unknown => error instanceof MongoServerError && error.codeName;
    return db.command({ find: "removals", limit: 1, readConcern }).then(() => "found", failed);
  };
  await expect.poll(() => readAt(operationTime), { timeout: 10_000 }).toBe("SnapshotTooOld");
  proxy.mend();

  const { code, out, err } = await running;
  expect({ code, out }).toEqual({ code: 1, out: "" });
  expect(err).toMatch(
    /^MongoDB no longer has the state of \S+Z, .* minSnapshotHistoryWindowInSeconds .* make the backup again\n$/,
  );
  expect(await readdir(folder)).toEqual([]);
});
