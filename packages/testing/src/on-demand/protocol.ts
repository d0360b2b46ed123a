import { z } from "zod";

/**
 * How a worker of the test run asks the main process for something that is made once, and only when it is
 * needed. Files in a folder: a worker writes the request, the main process writes the reply. Both are there
 * once at most.
 */
export interface OnDemand {
  /** Of this part alone. */
  folder: string;
  /** Of the main process, which replies. */
  pid: number;
}

/** Empty; there as soon as the first worker has asked. */
export const REQUEST_FILE = "request";
/** Renamed into place, so that it is complete when it is there. */
export const REPLY_FILE = "reply.json";

export const ReplySchema = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true), value: z.unknown() }),
  z.object({ ok: z.literal(false), reason: z.string() }),
]);
export type Reply = z.infer<typeof ReplySchema>;
