import { RequestIdSchema } from "@planwright/plan";
import { z } from "zod";
import { CursorInvalidError } from "../records/errors.ts";

const CursorSchema = z.tuple([z.number().int().min(0), RequestIdSchema]);

/** The last request of a page; opaque to clients. */
export interface RequestCursor {
  createdAt: Date;
  id: string;
}

/** The cursor of a position. */
export function toCursor(position: RequestCursor): string {
  return toCursorText([position.createdAt.getTime(), position.id]);
}

/** @throws {CursorInvalidError} if the text is not from {@link toCursor} */
export function parseCursor(text: string): RequestCursor {
  const [createdAt, id] = fromCursorText(CursorSchema, text);
  return { createdAt: new Date(createdAt), id };
}

/** A cursor, from the values after which a list continues. */
export function toCursorText(values: readonly (string | number | null)[]): string {
  return Buffer.from(JSON.stringify(values)).toString("base64url");
}

/**
 * The values in a cursor.
 * @throws {CursorInvalidError} if the text is not a cursor of this kind of list
 */
export function fromCursorText<T>(schema: z.ZodType<T>, text: string): T {
  let decoded: unknown;
  try {
    decoded = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
  } catch {
    throw new CursorInvalidError({ cursor: text.slice(0, 100) });
  }
  const parsed = schema.safeParse(decoded);
  if (!parsed.success) throw new CursorInvalidError({ cursor: text.slice(0, 100) });
  return parsed.data;
}
