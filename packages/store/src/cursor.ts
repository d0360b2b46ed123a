import { RequestIdSchema } from "@planwright/plan";
import { z } from "zod";
import { CursorInvalidError } from "./errors.ts";

const CursorSchema = z.tuple([z.number().int().min(0), RequestIdSchema]);

/** Where a page of requests ended: opaque to clients. */
export interface RequestCursor {
  createdAt: Date;
  id: string;
}

/** The opaque text of a position. */
export function toCursor(position: RequestCursor): string {
  return Buffer.from(JSON.stringify([position.createdAt.getTime(), position.id])).toString("base64url");
}

/** @throws {CursorInvalidError} if the text is not from {@link toCursor} */
export function parseCursor(text: string): RequestCursor {
  let decoded: unknown;
  try {
    decoded = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
  } catch {
    throw new CursorInvalidError({ cursor: text.slice(0, 100) });
  }
  const parsed = CursorSchema.safeParse(decoded);
  if (!parsed.success) throw new CursorInvalidError({ cursor: text.slice(0, 100) });
  return { createdAt: new Date(parsed.data[0]), id: parsed.data[1] };
}
