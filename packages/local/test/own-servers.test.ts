import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testServers } from "@planwright/testing";
import { Redis } from "ioredis";
import { MongoClient } from "mongodb";
import { expect, onTestFinished, test } from "vitest";
import {
  freePort,
  type LocalServer,
  ServerNotSuitableError,
  startChild,
  startMongo,
  startRedis,
} from "../src/index.ts";
import { findMongod } from "../src/start-mongo.ts";

const { MONGODB_URL: _mongodb, REDIS_URL: _redis, ...env } = process.env;

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "planwright-servers-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function killedAtEnd<T extends Pick<LocalServer, "kill">>(starting: Promise<T>): Promise<T> {
  const server = await starting;
  onTestFinished(() => server.kill());
  return server;
}

async function inMongo<T>(url: string, work: (client: MongoClient) => Promise<T>): Promise<T> {
  const client = new MongoClient(url);
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

async function inRedis<T>(url: string, work: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url);
  try {
    return await work(client);
  } finally {
    client.disconnect();
  }
}

test("two pairs of servers run side by side with separate data", async () => {
  const dirs = [folder(), folder()];
  const mongos = await Promise.all(dirs.map((dataDir) => killedAtEnd(startMongo({ dataDir, env }))));
  const redises = await Promise.all(dirs.map((dataDir) => killedAtEnd(startRedis({ dataDir, env }))));
  await inMongo(mongos[0]!.url, (client) => client.db("x").collection("notes").insertOne({ text: "mine" }));
  await inRedis(redises[0]!.url, (client) => client.set("note", "mine"));
  expect(await inMongo(mongos[1]!.url, (client) => client.db("x").collection("notes").countDocuments())).toBe(
    0,
  );
  expect(await inRedis(redises[1]!.url, (client) => client.get("note"))).toBeNull();
});

test("data survives the servers, also after SIGKILL and on another port", async () => {
  const dataDir = folder();
  const mongo = await killedAtEnd(startMongo({ dataDir, env }));
  const redis = await killedAtEnd(startRedis({ dataDir, env }));
  await inMongo(mongo.url, (client) =>
    client
      .db("x")
      .collection("notes")
      .insertOne({ text: "kept" }, { writeConcern: { w: "majority", journal: true } }),
  );
  await inRedis(redis.url, (client) => client.set("note", "kept"));
  await redis.stop();
  await mongo.kill();
  const [mongoAgain, redisAgain] = await Promise.all([
    killedAtEnd(startMongo({ dataDir, env })),
    killedAtEnd(startRedis({ dataDir, env })),
  ]);
  expect(mongoAgain.url).not.toBe(mongo.url);
  expect(await inMongo(mongoAgain.url, (client) => client.db("x").collection("notes").countDocuments())).toBe(
    1,
  );
  expect(await inRedis(redisAgain.url, (client) => client.get("note"))).toBe("kept");
});

test("a killed MongoDB is restarted at the same address", async () => {
  const mongo = await killedAtEnd(startMongo({ dataDir: folder(), env }));
  await mongo.kill();
  expect(mongo.pid()).toBeUndefined();
  await mongo.restart();
  expect(await inMongo(mongo.url, (client) => client.db("admin").command({ ping: 1 }))).toMatchObject({
    ok: 1,
  });
});

test("MONGODB_URL and REDIS_URL name servers to use, and stop does not stop them", async () => {
  const { mongodbUrl, redisUrl } = testServers();
  const named = { ...env, MONGODB_URL: mongodbUrl, REDIS_URL: redisUrl };
  const dataDir = folder();
  const [mongo, redis] = await Promise.all([
    startMongo({ dataDir, env: named }),
    startRedis({ dataDir, env: named }),
  ]);
  expect([mongo.url, redis.url, mongo.pid(), redis.pid()]).toEqual([
    mongodbUrl,
    redisUrl,
    undefined,
    undefined,
  ]);
  await Promise.all([mongo.stop(), redis.stop()]);
  expect(await inRedis(redisUrl, (client) => client.ping())).toBe("PONG");
});

test("a standalone MongoDB in MONGODB_URL is refused with the requirement", async () => {
  const dataDir = folder();
  const mongod = await findMongod(() => undefined);
  const port = await freePort();
  const alone = await killedAtEnd(
    startChild({
      name: "standalone MongoDB",
      command: mongod.command,
      args: ["--dbpath", dataDir, "--port", String(port), "--bind_ip", "127.0.0.1", "--nounixsocket"],
      env: { ...env, ...(mongod.libraryPath !== undefined && { LD_LIBRARY_PATH: mongod.libraryPath }) },
      logFile: join(dataDir, "log"),
    }),
  );
  const url = `mongodb://127.0.0.1:${port}/`;
  await alone.ready(() => inMongo(url, async (client) => Boolean(await client.db().command({ ping: 1 }))));
  const starting = startMongo({ dataDir: folder(), env: { ...env, MONGODB_URL: url } });
  await expect(starting).rejects.toThrow(ServerNotSuitableError);
  await expect(starting).rejects.toThrow("replica set");
});

test("a REDIS_URL without a server is refused", async () => {
  const url = `redis://127.0.0.1:${await freePort()}`;
  const starting = startRedis({ dataDir: folder(), env: { ...env, REDIS_URL: url } });
  await expect(starting).rejects.toThrow(ServerNotSuitableError);
});
