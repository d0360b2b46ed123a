import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testServers } from "@planwright/testing";
import { Redis } from "ioredis";
import { MongoClient } from "mongodb";
import { expect, onTestFinished, test, vi } from "vitest";
import { freePort, startChild } from "../src/index.ts";
import { localServer } from "../src/local-server.ts";
import { isPortFree } from "../src/ports.ts";
import { findMongod } from "../src/start-mongo.ts";

test("the test run's MongoDB has change streams", async () => {
  const client = new MongoClient(testServers().mongodbUrl);
  const notes = client.db().collection<{ text: string }>("notes");
  await notes.insertOne({ text: "first" });
  const changes = notes.watch();
  const next = changes.next();
  await notes.insertOne({ text: "second" });
  expect(await next).toMatchObject({ operationType: "insert", fullDocument: { text: "second" } });
  await changes.close();
  await client.close();
});

test("the test run's Redis never evicts and writes an append-only file", async () => {
  const client = new Redis(testServers().redisUrl);
  const policy = await client.config("GET", "maxmemory-policy");
  const appendOnly = await client.config("GET", "appendonly");
  client.disconnect();
  expect({ policy, appendOnly }).toEqual({
    policy: ["maxmemory-policy", "noeviction"],
    appendOnly: ["appendonly", "yes"],
  });
});

test("each call of testServers returns a new database and a new key prefix", () => {
  const [first, second] = [testServers(), testServers()];
  expect(new URL(first.mongodbUrl).pathname).not.toBe(new URL(second.mongodbUrl).pathname);
  expect(first.redisPrefix).not.toBe(second.redisPrefix);
});

test("a MongoDB whose port was taken meanwhile is started on another one", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  onTestFinished(() => void taken.close());
  const dataDir = mkdtempSync(join(tmpdir(), "planwright-port-"));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const { command, libraryPath } = await findMongod(() => undefined);
  const ports = [(taken.address() as AddressInfo).port, await freePort()];
  const server = await localServer({
    name: "MongoDB",
    choosePort: async () => ports.shift() ?? 0,
    urlOf: String,
    spawn: (port) =>
      startChild({
        name: "MongoDB",
        command,
        args: [
          "--dbpath",
          dataDir,
          "--port",
          String(port),
          "--bind_ip",
          "127.0.0.1",
          "--replSet",
          "planwright",
          "--nounixsocket",
        ],
        env: { ...process.env, ...(libraryPath && { LD_LIBRARY_PATH: libraryPath }) },
        logFile: join(dataDir, "log"),
      }),
    isReady: async (port) => ports.length === 0 && !(await isPortFree(port)),
  });
  await server.kill();
});

test("a MongoDB that is there from an earlier download is not said to be downloaded", async () => {
  const folder = mkdtempSync(join(tmpdir(), "planwright-mongod-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const command = join(folder, "downloaded");
  writeFileSync(command, "", { mode: 0o755 });
  const { arch } = process;
  Object.defineProperty(process, "arch", { value: "arm64" }); // no server is shipped for it
  onTestFinished(() => void Object.defineProperty(process, "arch", { value: arch }));
  vi.stubEnv("PATH", folder);
  vi.stubEnv("MONGOMS_SYSTEM_BINARY", command);
  vi.stubEnv("MONGOMS_SYSTEM_BINARY_VERSION_CHECK", "false");
  onTestFinished(() => void vi.unstubAllEnvs());
  const said: string[] = [];
  expect(await findMongod((line) => said.push(line))).toEqual({ command });
  expect(said).toEqual([]);
});
