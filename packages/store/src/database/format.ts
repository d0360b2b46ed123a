import type { Db } from "mongodb";
import { DatabaseFormatError } from "../records/errors.ts";
import { isDuplicateKey } from "./transient-errors.ts";

/**
 * Number of the layout in which this version stores its documents. It is raised with every change that other
 * versions cannot read.
 */
export const DATABASE_FORMAT = 6;

/** Format of databases that were written before formats had numbers. */
const UNNUMBERED = 1;

interface FormatDocument {
  _id: "format";
  version: number;
}

/**
 * Gives a new database its format number, and refuses one of another format: reading it would lose or repeat
 * work.
 * @throws {DatabaseFormatError}
 */
export async function requireFormat(db: Db): Promise<void> {
  const meta = db.collection<FormatDocument>("meta");
  let found = await meta.findOne({ _id: "format" });
  if (!found && (await db.collection("requests").findOne({}, { projection: { _id: 1 } })))
    found = { _id: "format", version: UNNUMBERED };
  if (!found) {
    await meta.insertOne({ _id: "format", version: DATABASE_FORMAT }).catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
    });
    // A process of another version may have been first.
    found = await meta.findOne({ _id: "format" });
  }
  const version = found?.version ?? DATABASE_FORMAT;
  if (version !== DATABASE_FORMAT)
    throw new DatabaseFormatError({ database: db.databaseName, found: version, expected: DATABASE_FORMAT });
}
