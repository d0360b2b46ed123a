import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type OnDemand, REPLY_FILE, REQUEST_FILE, type Reply } from "./protocol.ts";

const BETWEEN_LOOKS_MS = 20;

/** What the first worker that asks gets. */
export interface Made {
  /** Becomes JSON. */
  value: unknown;
  /** Ends what runs; absent: nothing does. */
  end?(): Promise<void>;
}

/** A part that is offered to the workers. */
export interface Offer {
  /** Is provided to the workers, which give it to `askOnDemand`. */
  onDemand: OnDemand;
  /** Ends what was made. Waits for it while it is being made; does nothing if no worker asked. */
  close(): Promise<void>;
}

/**
 * Makes something when the first worker asks for it, once for the whole run. When it cannot be made, every
 * worker that asks is told why.
 *
 * @param make - gets a folder for the files of the part, which is deleted at the end of the run, also when it
 *   is interrupted
 * @param parent - of that folder; default: the system's folder for temporary files
 */
export function offerOnDemand(make: (folder: string) => Promise<Made>, parent = tmpdir()): Offer {
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "planwright-test-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", remove);
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
  }, BETWEEN_LOOKS_MS);
  // It alone does not keep the process alive.
  timer.unref();
  return {
    onDemand: { folder, pid: process.pid },
    async close() {
      clearInterval(timer);
      await (await making)?.end?.();
      process.off("exit", remove);
      remove();
    },
  };
}
