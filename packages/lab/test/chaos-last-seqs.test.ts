import { testServers } from "@planwright/testing";
import { type Document, MongoClient } from "mongodb";
import { expect, test } from "vitest";
import { readLastSeqs } from "../src/chaos/play-out.ts";

test("the last entry of each journal is read, by request", async () => {
  const client = await MongoClient.connect(testServers().mongodbUrl);
  try {
    const journal = client.db().collection<Document & { _id: string }>("journal");
    const entry = (requestId: string, seq: number) => ({ _id: `${requestId}/${seq}`, requestId, seq });
    await journal.insertMany([entry("one", 1), entry("two", 1), entry("one", 2)]);
    expect(await readLastSeqs(client)).toEqual(
      new Map([
        ["one", 2],
        ["two", 1],
      ]),
    );
  } finally {
    await client.db().dropDatabase();
    await client.close();
  }
});
