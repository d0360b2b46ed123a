import { useEffect, useRef, useState } from "react";
import { useIsVisible } from "./browser.ts";
import { useClient } from "./use-api.ts";

/** The cheapest question: whether the API answers. It is no operation, so it does not count against the limits of a caller. */
const ALIVE_PATH = "/healthz";

/** Wait from an answer to the next question, in milliseconds. */
const ASK_EVERY_MS = 1_500;

/** A frozen API accepts connections and does not answer: after this time, in milliseconds, it counts as frozen. */
const FROZEN_AFTER_MS = 2_500;

/** Without an answer for this time, in milliseconds, the connections of the feeds are not trusted: they are opened anew. */
const LOST_AFTER_MS = 10_000;

/** Whether the page is live: the API answers, so its feeds bring each change. */
interface Connection {
  isLive: boolean;
  /** When the API answered last, in milliseconds; null before the first answer. */
  answeredAt: number | null;
}

/** Notifies the feeds of the page that the API answers again after a time without answers, such as a night. */
export const returned = new EventTarget();

/** The event of {@link returned}. */
export const RETURNED = "returned";

/**
 * Asks the API again and again while the page is visible. A connection over which nothing arrives looks the same when
 * nothing happens and when the other side is frozen or gone; only a question tells the difference.
 */
export function useConnection(): Connection {
  const client = useClient();
  const isVisible = useIsVisible();
  const [connection, setConnection] = useState<Connection>({ isLive: true, answeredAt: null });
  const lastAnswer = useRef<number | null>(null);
  useEffect(() => {
    if (!isVisible) return;
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    async function ask(): Promise<void> {
      const answers = await hasAnswered(new URL(ALIVE_PATH, client.url), controller.signal);
      if (controller.signal.aborted) return;
      const before = lastAnswer.current;
      if (answers) lastAnswer.current = Date.now();
      setConnection({ isLive: answers, answeredAt: lastAnswer.current });
      if (answers && before !== null && Date.now() - before > LOST_AFTER_MS)
        returned.dispatchEvent(new Event(RETURNED));
      timer = setTimeout(() => void ask(), ASK_EVERY_MS);
    }
    void ask();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [client, isVisible]);
  return connection;
}

/** True when the API answered in time; an answer of 500 and more is that of a proxy whose service is gone. */
async function hasAnswered(url: URL, signal: AbortSignal): Promise<boolean> {
  try {
    const { status } = await fetch(url, {
      cache: "no-store",
      signal: AbortSignal.any([signal, AbortSignal.timeout(FROZEN_AFTER_MS)]),
    });
    return status < 500;
  } catch {
    return false;
  }
}
