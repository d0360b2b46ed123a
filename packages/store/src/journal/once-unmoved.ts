import { JournalMovedError } from "./errors.ts";

/** Does something that follows from what a journal says; again from its beginning when another entry came between. */
export async function onceUnmoved<T>(run: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof JournalMovedError)) throw error;
    }
  }
}
