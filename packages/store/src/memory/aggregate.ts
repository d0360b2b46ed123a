import type { Document } from "mongodb";
import { evaluate, valueAt } from "./evaluate.ts";
import { matches } from "./matches.ts";
import { type MemoryDatabase, type StoredDocument, sortDocuments } from "./memory-database.ts";

// The driver types an operand as `any`: its form depends on the stage.
type Stage = (
  documents: StoredDocument[],
  operand: Document[string],
  database: MemoryDatabase,
) => StoredDocument[];

/** The stages that this store uses, in the forms that it uses. */
const STAGES: Readonly<Record<string, Stage>> = {
  $match: (documents, filter, database) =>
    documents.filter((document) => matches(filter, { document, nowMs: database.now() })),
  $sort: (documents, by) => sortDocuments(documents, by),
  $skip: (documents, count) => documents.slice(Number(count)),
  $limit: (documents, count) => documents.slice(0, Number(count)),
  $unionWith: (documents, { coll, pipeline }, database) => [
    ...documents,
    ...aggregate(database, coll, pipeline).map((document) => ({ _id: "", ...document })),
  ],
  $lookup: (documents, { from, localField, foreignField, as }, database) =>
    documents.map((document) => ({
      ...document,
      [as]: database.find(from, { [foreignField]: valueAt(document, localField) }),
    })),
  $unwind: (documents, path) => documents.flatMap((document) => unwound(document, String(path).slice(1))),
  $set: (documents, fields, database) =>
    documents.map((document) => ({
      ...document,
      ...Object.fromEntries(
        Object.entries(fields).map(([name, expression]) => [
          name,
          evaluate(expression, { document, nowMs: database.now() }),
        ]),
      ),
    })),
  $unset: (documents, fields) =>
    documents.map((document) =>
      [fields].flat().reduce((rest, path) => without(rest, String(path)), document),
    ),
  $project: (documents, fields, database) =>
    documents.map((document) => projected(document, fields, database.now())),
};

/**
 * The result of an aggregation over a collection in memory.
 * @throws {TypeError} for a stage that is not implemented here
 */
export function aggregate(database: MemoryDatabase, collection: string, pipeline: Document[]): Document[] {
  let documents = database.find(collection, {});
  for (const [name, operand] of pipeline.flatMap((stage) => Object.entries(stage))) {
    const stage = STAGES[name];
    if (!stage) throw new TypeError(`The store in memory does not implement ${name}`);
    documents = stage(documents, operand, database);
  }
  return documents;
}

/** A copy without the field at a dotted path. */
function without<T extends Document>(document: T, path: string): T {
  const [name = "", ...rest] = path.split(".");
  const { [name]: value, ...others } = document;
  if (rest.length === 0) return others as T;
  const isInside = typeof value === "object" && value !== null;
  return isInside ? { ...document, [name]: without(value as Document, rest.join(".")) } : document;
}

function unwound(document: StoredDocument, field: string): StoredDocument[] {
  const list: unknown = document[field];
  return Array.isArray(list) ? list.map((value: unknown) => ({ ...document, [field]: value })) : [];
}

function projected(document: StoredDocument, fields: Document, nowMs: number): StoredDocument {
  const kept: StoredDocument = { _id: document._id };
  for (const [name, expression] of Object.entries(fields)) {
    kept[name] = expression === 1 ? document[name] : evaluate(expression, { document, nowMs });
  }
  return kept;
}
