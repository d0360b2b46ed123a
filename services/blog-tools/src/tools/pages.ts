import { Refusal } from "@planwright/tool-kit";
import type { Collection, Document, Filter } from "mongodb";
import { ObjectId } from "mongodb";
import { z } from "zod";
import { ALIVE } from "./documents-by-id.ts";

/** Arguments of a list tool. */
export const pageInput = {
  limit: z.number().int().min(1).max(100).default(20).describe("How many to return at most, 1 to 100"),
  cursor: z
    .string()
    .max(100)
    .optional()
    .describe("The nextCursor of the page before; omit it for the first page"),
};

/** Fields of a list's output, beside the list itself. */
export const pageOutput = {
  count: z.number().int().describe("How many are in this page"),
  nextCursor: z.string().nullable().describe("Pass it as cursor to get the next page; null on the last page"),
};

/** One page, oldest first. @throws {Refusal} */
export async function findPage<T extends Document & { _id: ObjectId }>(
  collection: Collection<T>,
  filter: Document,
  page: { limit: number; cursor?: string | undefined },
): Promise<{ items: T[]; count: number; nextCursor: string | null }> {
  const after = page.cursor === undefined ? {} : { _id: { $gt: parseCursor(page.cursor) } };
  const found = await collection
    .find({ ...filter, ...after, ...ALIVE } as unknown as Filter<T>)
    .sort({ _id: 1 })
    .limit(page.limit + 1)
    .toArray();
  const items = found.slice(0, page.limit) as T[];
  const last = found.length > page.limit ? items.at(-1) : undefined;
  return { items, count: items.length, nextCursor: last === undefined ? null : last._id.toHexString() };
}

function parseCursor(cursor: string): ObjectId {
  if (!/^[0-9a-f]{24}$/.test(cursor)) throw new Refusal("The cursor is not one that this list gave");
  return ObjectId.createFromHexString(cursor);
}
