import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";

const POLL_EVERY_MS = 20;

/** A part that was made for the workers. */
export interface Made {
  /** Sent to the workers as JSON. */
  value: unknown;
  /** Ends its processes; absent: it has none. */
  end?(): Promise<void>;
}

/** A part that is offered to the workers. */
export interface Offer {
  /** Provided to the workers, which pass it to `askOnDemand`. */
  onDemand: OnDemand;
  /** Ends the part. Waits while it is being made; does nothing if no worker asked for it. */
  close(): Promise<void>;
}

/** The folders of all parts, which an interrupted run would leave. */
const folders = new Set<string>();

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  folders.delete(folder);
}

function removeAll(): void {
  for (const folder of folders) remove(folder);
}

/**
 * Makes a part when the first worker asks for it, once for the whole run. When it cannot be made, every
 * worker that asks receives the reason.
 *
 * @param make - receives a folder for the files of the part, which is deleted at the end of the run, also
 * after an interruption
 * @param parent - the parent of that folder; default: the system's folder for temporary files
 */
export function offerOnDemand(make: (folder: string) => Promise<Made>, parent = tmpdir()): Offer {
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "planwright-test-"));
  if (!process.listeners("exit").includes(removeAll)) process.on("exit", removeAll);
  folders.add(folder);
  let making: Promise<Made | undefined> = Promise.resolve(undefined);
  const reply = (content: Reply) => {
    const file = join(folder, REPLY_FILE);
    writeFileSync(`${file}.new`, JSON.stringify(content));
    renameSync(`${file}.new`, file);
  };
  const timer = setInterval(() => {
    if (!existsSync(join(folder, REQUEST_FILE))) return;
    clearInterval(timer);
    making = make(join(folder, "part")).then(
      (made) => {
        reply({ ok: true, value: made.value });
        return made;
      },
      (error: unknown) => {
        reply({ ok: false, reason: error instanceof Error ? error.message : String(error) });
        return undefined;
      },
    );
  }, POLL_EVERY_MS);
  // The timer alone must not keep the process alive.
  timer.unref();
  return {
    onDemand: { folder, pid: process.pid },
    async close() {
      clearInterval(timer);
      await (await making)?.end?.();
      remove(folder);
    },
  };
}

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
type Reply = z.infer<typeof ReplySchema>;
