import type { ListedTools } from "./listed-tools.ts";
import type { Session } from "./open-session.ts";

/** Pause before a server that keeps reporting changed tools is listed again, in milliseconds. */
const RELIST_PAUSE_MS = 100;

/** Dependencies of a listing. */
export interface ToolListingOptions {
  /** The session that is open now. */
  session: () => Session | undefined;
  /** How long one listing may take. */
  timeoutMs: number;
  /** How often the tools are listed again, in addition to the server's own notifications. */
  refreshMs: number;
  /** For a server that cannot report changes: a list older than this is read again before a call. */
  maxListingAgeMs: number;
  /** Aborted when the connection is closed. */
  closing: AbortSignal;
  /** The tools became known, or were listed again. */
  onTools: (listed: ListedTools) => void;
  /** An error in a list that was otherwise accepted. */
  onWarning: (warning: string) => void;
  /** The session failed to list its tools. */
  onFailed: (session: Session, error: unknown) => void;
}

/**
 * Keeps the list of tools of one server current, across its sessions. Reported changes start one listing at a
 * time, and an older listing never replaces a newer one.
 */
export interface ToolListing {
  /** Number of tools in the list. */
  readonly count: number;
  /** True when the server reported changed tools that are not listed yet. */
  readonly isStale: boolean;
  /** The listing that calls wait for, with the pause after it. */
  readonly pending: Promise<void> | undefined;
  /** Lists the tools of a session that opens. Rejects when it does not list them in time. */
  read(session: Session, timeoutMs: number): Promise<void>;
  /** Lists changes that were reported while the session opened, and from now on lists at an interval. */
  begin(): void;
  /** The server reported changed tools. */
  changed(): void;
  /** Lists the tools of the open session now. */
  refresh(): Promise<void>;
  /** Starts a listing if the list is too old for a call. */
  renewIfOld(): void;
  /** Stops the listings at an interval until the next session begins. */
  stop(): void;
}

/** A listing that knows no tools yet. */
export function createToolListing(options: ToolListingOptions): ToolListing {
  let count = 0;
  let isStale = false;
  let pending: Promise<void> | undefined;
  /** Number of listings begun, number of the newest accepted one, and the time when that one began. */
  const listings = { begun: 0, accepted: 0, acceptedBegunAt: Number.NEGATIVE_INFINITY };
  let refreshTimer: NodeJS.Timeout | undefined;

  async function read(session: Session, timeoutMs: number): Promise<void> {
    const listing = ++listings.begun;
    const begunAt = performance.now();
    isStale = false;
    const listed = await session.listTools(timeoutMs);
    if (listing < listings.accepted) return;
    listings.accepted = listing;
    listings.acceptedBegunAt = begunAt;
    listed.warnings.forEach(options.onWarning);
    count = listed.tools.length;
    options.onTools(listed);
  }

  async function refresh(): Promise<void> {
    const session = options.session();
    if (!session) return;
    try {
      await read(session, options.timeoutMs);
      schedule();
    } catch (error) {
      options.onFailed(session, error);
    }
  }

  /** Lists the tools again, one listing at a time. */
  function relist(): void {
    if (pending || !options.session()) return;
    pending = refresh().then(async () => {
      if (isStale) await sleep(RELIST_PAUSE_MS, options.closing);
      pending = undefined;
      if (isStale) relist();
    });
  }

  function schedule(): void {
    clearTimeout(refreshTimer);
    refreshTimer = setTimeout(() => void refresh(), options.refreshMs);
    refreshTimer.unref();
  }

  return {
    get count() {
      return count;
    },
    get isStale() {
      return isStale;
    },
    get pending() {
      return pending;
    },
    read,
    begin() {
      schedule();
      if (isStale) relist();
    },
    changed() {
      isStale = true;
      relist();
    },
    refresh,
    renewIfOld() {
      const session = options.session();
      if (!session || session.hearsChanges()) return;
      if (performance.now() - listings.acceptedBegunAt > options.maxListingAgeMs) relist();
    },
    stop: () => clearTimeout(refreshTimer),
  };
}

/** Resolves after a time, or at once when the signal is aborted. @param ms - zero or less: no wait */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { once: true });
  });
}
