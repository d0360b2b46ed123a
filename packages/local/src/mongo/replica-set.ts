import { MongoClient, MongoServerError } from "mongodb";
import { z } from "zod";
import { ServerNotSuitableError } from "../errors.ts";

const NAME = "planwright";
const ALREADY_INITIALIZED = 23;
const ConfigSchema = z.looseObject({
  config: z.looseObject({ version: z.number(), members: z.array(z.looseObject({ host: z.string() })) }),
});

/** The name of the replica set of a local `mongod`. */
export const REPLICA_SET = NAME;

/**
 * Makes a started `mongod` the primary of a replica set of one, also with the data of an earlier run on
 * another port. Resolves to false while it is not writable yet: call it again.
 */
export async function becomePrimary(port: number): Promise<boolean> {
  const host = `127.0.0.1:${port}`;
  const client = new MongoClient(`mongodb://${host}/?directConnection=true`, {
    serverSelectionTimeoutMS: 2_000,
  });
  try {
    const admin = client.db("admin");
    const hello = await admin.command({ hello: 1 });
    if (hello["isWritablePrimary"] === true && hello["me"] === host) return true;
    const members = [{ _id: 0, host }];
    try {
      await admin.command({ replSetInitiate: { _id: NAME, members } });
    } catch (error) {
      if (!(error instanceof MongoServerError && error.code === ALREADY_INITIALIZED)) throw error;
      const { config } = ConfigSchema.parse(await admin.command({ replSetGetConfig: 1 }));
      if (config.members[0]?.host !== host) {
        const moved = { ...config, version: config.version + 1, members: [{ ...config.members[0], host }] };
        await admin.command({ replSetReconfig: moved, force: true });
      }
    }
    return false;
  } finally {
    await client.close();
  }
}

/**
 * Checks the server of MONGODB_URL.
 * @throws {ServerNotSuitableError} when it does not answer within 10 s or is a standalone server
 */
export async function requireReplicaSet(url: string): Promise<void> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 10_000 });
  try {
    const hello = await client.db("admin").command({ hello: 1 });
    if (typeof hello["setName"] === "string" || hello["msg"] === "isdbgrid") return;
  } catch (error) {
    throw new ServerNotSuitableError("MongoDB", "The MongoDB that MONGODB_URL names does not answer.", error);
  } finally {
    await client.close();
  }
  throw new ServerNotSuitableError(
    "MongoDB",
    "The MongoDB that MONGODB_URL names is a standalone server. Planwright needs a replica set (one member is enough): start mongod with --replSet and run rs.initiate(). Or unset MONGODB_URL, and one is started for you.",
  );
}
