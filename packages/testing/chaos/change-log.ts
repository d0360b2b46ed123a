import { setTimeout as delay } from "node:timers/promises";
import type { ChangeStreamDocument, Document, MongoClient, ResumeToken } from "mongodb";
import type { Change } from "./change.ts";

/** Every write to requests, plans and steps, in order. */
export interface ChangeLog {
  readonly changes: readonly Change[];
  /** Resolves when everything written so far is in {@link changes}, and ends the recording. */
  finish(): Promise<void>;
}

/** A write of our own, behind everything that happened before it. */
const MARKS = "chaosMarks";
const TRY_AGAIN_MS = 200;

/**
 * Records the change stream of a database until it is finished. A stream that breaks is taken up again where it ended, so
 * that nothing is missing, however often MongoDB dies.
 */
export async function startChangeLog(client: MongoClient): Promise<ChangeLog> {
  const changes: Change[] = [];
  const db = client.db();
  let resumeAfter: ResumeToken;
  let isOver = false;
  let sawMark: () => void = () => undefined;
  const marked = new Promise<void>((resolve) => {
    sawMark = resolve;
  });
  const pipeline = [{ $match: { "ns.coll": { $in: ["requests", "plans", "steps", MARKS] } } }];

  async function record(onOpen: () => void): Promise<void> {
    while (!isOver) {
      const stream = db.watch(pipeline, {
        ...(resumeAfter === undefined ? {} : { resumeAfter }),
        maxAwaitTimeMS: 500,
      });
      try {
        for (let isFirst = true; !isOver; isFirst = false) {
          const event = await stream.tryNext();
          resumeAfter = stream.resumeToken ?? resumeAfter;
          if (isFirst) onOpen(); // the cursor is open: from here on nothing is missed
          if (event === null) continue;
          if ("ns" in event && "coll" in event.ns && event.ns.coll === MARKS) sawMark();
          else changes.push(...toChange(event));
        }
      } catch {
        await delay(TRY_AGAIN_MS); // MongoDB is away; the token says where to go on
      } finally {
        await stream.close().catch(() => undefined);
      }
    }
  }

  let recording: Promise<void> = Promise.resolve();
  await new Promise<void>((resolve) => {
    recording = record(resolve);
  });
  return {
    changes,
    async finish() {
      await db.collection(MARKS).insertOne({ at: new Date() });
      await marked;
      isOver = true;
      await recording;
    },
  };
}

function toChange(event: ChangeStreamDocument): Change[] {
  if (event.operationType === "delete") return [{ ...headOf(event), type: "delete", fields: [] }];
  if (event.operationType === "insert" || event.operationType === "replace") {
    const type = event.operationType === "insert" ? "insert" : "update";
    return [{ ...headOf(event), type, fields: Object.keys(event.fullDocument), ...read(event.fullDocument) }];
  }
  if (event.operationType !== "update") return [];
  const { updatedFields = {}, removedFields = [] } = event.updateDescription;
  const fields = [...Object.keys(updatedFields), ...removedFields];
  return [{ ...headOf(event), type: "update", fields, ...read(updatedFields) }];
}

function headOf(event: {
  ns: { coll: string };
  documentKey: { _id: unknown };
  wallTime?: Date;
}): Pick<Change, "at" | "collection" | "id"> {
  const { coll } = event.ns;
  const collection = coll === "requests" || coll === "plans" ? coll : "steps";
  return { at: event.wallTime?.getTime() ?? Date.now(), collection, id: String(event.documentKey._id) };
}

/** The same whether fields were written as a whole ("lease") or in part ("lease.owner"). */
function read(fields: Document): Partial<Change> {
  const owner: unknown = fields["lease.owner"] ?? fields["lease"]?.owner;
  const attempts = Object.entries(fields).flatMap(([name, value]): unknown[] =>
    name === "attempts" && Array.isArray(value)
      ? value.slice(-1)
      : /^attempts\.\d+$/.test(name)
        ? [value]
        : [],
  );
  const executor = attempts.map(executorOf).findLast((name) => name !== undefined);
  return {
    ...(typeof fields["status"] === "string" && { status: fields["status"] }),
    ...(typeof fields["epoch"] === "number" && { epoch: fields["epoch"] }),
    ...(typeof owner === "string" && { owner }),
    ...(typeof fields["writeId"] === "string" && { writeId: fields["writeId"] }),
    ...(typeof fields["carriedFrom"] === "string" && { isCarried: true }),
    ...(executor !== undefined && { executor }),
  };
}

/** The executor of an attempt that is under way. */
function executorOf(attempt: unknown): string | undefined {
  if (typeof attempt !== "object" || attempt === null || !("executor" in attempt)) return undefined;
  if ("endedAt" in attempt && attempt.endedAt !== null) return undefined;
  return typeof attempt.executor === "string" ? attempt.executor : undefined;
}
