import { setTimeout as delay } from "node:timers/promises";
import type { JournalEntry } from "@planwright/engine";
import { isCarried } from "@planwright/plan";
import type { JournalDocument, PlanDocument } from "@planwright/store";
import type { ChangeStreamDocument, Document, MongoClient, ResumeToken } from "mongodb";
import { createUnitChanges, type UnitChange } from "../journal/unit-changes.ts";
import type { PlanChange } from "./evidence.ts";

/** Every write to requests and plans, and every change of a step by the journals, in order. */
export interface ChangeLog {
  readonly changes: readonly PlanChange[];
  /** Waits until everything written so far is in {@link changes}, and ends the recording. */
  finish(): Promise<void>;
}

/** A collection of this log: a mark in it is written after everything that happened before. */
const MARKS = "chaosMarks";
const TRY_AGAIN_MS = 200;

/**
 * Records the change stream of a database until `finish`. A broken stream resumes where it broke, so nothing
 * is missing, however often MongoDB is killed.
 */
export async function startChangeLog(client: MongoClient): Promise<ChangeLog> {
  const changes: PlanChange[] = [];
  const db = client.db();
  let resumeAfter: ResumeToken;
  let hasEnded = false;
  let sawMark: () => void = () => undefined;
  const marked = new Promise<void>((resolve) => {
    sawMark = resolve;
  });
  const plans = new Map<string, PlanDocument>();
  const unitChangesOf = createUnitChanges((planId) => plans.get(planId));

  /** Entries about a plan that is not inserted yet, with later entries of the same request. */
  const early = new Map<string, ChangeStreamDocument[]>();

  function changesOf(event: ChangeStreamDocument): PlanChange[] {
    if (event.operationType !== "insert" || event.ns.coll === "requests") return toChange(event);
    // Only the store writes these collections, so their form is known.
    if (event.ns.coll === "plans") {
      const plan = event.fullDocument as PlanDocument;
      plans.set(plan._id, plan);
      const waiting = early.get(plan.requestId) ?? [];
      early.delete(plan.requestId);
      return [...toChange(event), ...waiting.flatMap(changesOf)];
    }
    const { _id, ...entry } = event.fullDocument as JournalDocument;
    const waiting = early.get(entry.requestId);
    const isEarly = !plans.has(entry.planId) && entry.events.some(({ type }) => type === "plan.stored");
    if (!waiting && !isEarly) return stepChanges(event, _id, entry);
    early.set(entry.requestId, [...(waiting ?? []), event]);
    return [];
  }

  /** The changes of steps that an entry makes. */
  function stepChanges(event: { wallTime?: Date }, id: string, entry: JournalEntry): PlanChange[] {
    const at = event.wallTime?.getTime() ?? Date.now();
    try {
      return unitChangesOf(entry).map((change) => toStepChange(change, { at, entry }));
    } catch (error) {
      return [{ at, collection: "steps", id, type: "invalid", fields: [], reason: String(error) }];
    }
  }

  /** The changes of steps by entries whose plan was never inserted. */
  function changesOfMissingPlans(): PlanChange[] {
    return [...early.values()].flat().flatMap((event) => {
      if (event.operationType !== "insert") return [];
      const { _id, ...entry } = event.fullDocument as JournalDocument;
      return stepChanges(event, _id, entry);
    });
  }

  const pipeline = [{ $match: { "ns.coll": { $in: ["requests", "plans", "journal", MARKS] } } }];

  async function record(onOpen: () => void): Promise<void> {
    while (!hasEnded) {
      const stream = db.watch(pipeline, {
        ...(resumeAfter === undefined ? {} : { resumeAfter }),
        maxAwaitTimeMS: 500,
      });
      try {
        for (let isFirst = true; !hasEnded; isFirst = false) {
          const event = await stream.tryNext();
          resumeAfter = stream.resumeToken ?? resumeAfter;
          if (isFirst) onOpen(); // the cursor is open, so no later change is missed
          if (event === null) continue;
          if ("ns" in event && "coll" in event.ns && event.ns.coll === MARKS) sawMark();
          else changes.push(...changesOf(event));
        }
      } catch {
        await delay(TRY_AGAIN_MS); // MongoDB is unreachable; the token says where to resume
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
      hasEnded = true;
      await recording;
      changes.push(...changesOfMissingPlans());
    },
  };
}

function toChange(event: ChangeStreamDocument): PlanChange[] {
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
}): Pick<PlanChange, "at" | "collection" | "id"> {
  const { coll } = event.ns;
  const collection = coll === "requests" || coll === "plans" ? coll : "steps";
  return { at: event.wallTime?.getTime() ?? Date.now(), collection, id: String(event.documentKey._id) };
}

function toStepChange(
  { before, after, epoch }: UnitChange,
  { at, entry }: { at: number; entry: JournalEntry },
): PlanChange {
  return {
    at,
    collection: "steps",
    id: `${after.planId}/${after.key}`,
    type: before ? "update" : "insert",
    fields: [],
    status: after.status,
    ...(epoch !== undefined && { epoch, writer: entry.by.id }),
    ...(before === null && isCarried(after) && { isCarried: true }),
  };
}

/** Reads fields that were written as one value ("lease") or one by one ("lease.owner"). */
function read(fields: Document): Partial<PlanChange> {
  const owner: unknown = fields["lease.owner"] ?? fields["lease"]?.owner;
  return {
    ...(typeof fields["status"] === "string" && { status: fields["status"] }),
    ...(typeof fields["epoch"] === "number" && { epoch: fields["epoch"] }),
    ...(typeof owner === "string" && { owner }),
  };
}
