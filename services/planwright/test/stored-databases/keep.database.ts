/**
 * `npm run keep-database`: makes a database of this version with requests that wait, and stores it beside the tests
 * as `format-N.json.gz`, and its backup as `format-N.backup`. Run it once, before the format number is raised.
 */
import { createWriteStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { VERSION } from "@planwright/runtime";
import { backupDatabase } from "@planwright/store";
import { startSystem } from "@planwright/testing";
import { BSON, MongoClient } from "mongodb";
import { expect, test } from "vitest";
import { ask, find, startVault, WAITING_REQUESTS } from "./waiting-requests.ts";

test("a database with requests that wait is stored, with its backup", { timeout: 120_000 }, async () => {
  const vault = await startVault();
  const system = { ...(await startSystem(vault.system)), vault };
  await system.startPlanner();
  const requests: Record<string, string> = {};
  for (const [name, { begin, waits }] of Object.entries(WAITING_REQUESTS)) {
    const requestId = await begin(system);
    requests[name] = requestId;
    if (name === "pause") {
      await expect.poll(async () => (await find(system, requestId)).plan?.waitReason).toBe("approval");
      await ask(system, "mutation ($id: ID!) { pause(requestId: $id) { status } }", { id: requestId });
    }
    await expect.poll(async () => waits(await find(system, requestId)), { timeout: 30_000 }).toBe(true);
  }
  const ledger = [...(await system.tools.ledger()), ...(await vault.ledger())];
  await system.close();
  await vault.close();

  const client = await MongoClient.connect(system.mongodbUrl);
  const collections: Record<string, unknown[]> = {};
  for (const { name } of await client.db().listCollections().toArray())
    collections[name] = await client.db().collection(name).find().toArray();
  const format = await client
    .db()
    .collection<{ _id: string; version: number }>("meta")
    .findOne({ _id: "format" });
  await client.close();
  const content = { keptAt: new Date(), requests, effects: ledger.length, collections };
  const kept = BSON.EJSON.stringify(content, { relaxed: false });
  const file = (ending: string): URL => new URL(`format-${format?.version}.${ending}`, import.meta.url);
  await writeFile(file("json.gz"), gzipSync(kept, { level: 9 }));
  await backupDatabase(
    { url: system.mongodbUrl },
    { to: createWriteStream(file("backup")), version: VERSION },
  );
});
