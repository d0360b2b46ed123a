import { z } from "zod";

/**
 * How a worker of the test run asks the main process for a part that is made once, and only when it is
 * needed. The protocol is two files in a folder: a worker writes the request, the main process writes the
 * reply. Each is written at most once.
 */
export interface OnDemand {
  /** The folder of this part. */
  folder: string;
  /** The pid of the main process, which replies. */
  pid: number;
}

/** An empty file that exists after the first worker has asked. */
export const REQUEST_FILE = "request";
/** Renamed to this name when it is complete. */
export const REPLY_FILE = "reply.json";

export const ReplySchema = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true), value: z.unknown() }),
  z.object({ ok: z.literal(false), reason: z.string() }),
]);
export type Reply = z.infer<typeof ReplySchema>;
