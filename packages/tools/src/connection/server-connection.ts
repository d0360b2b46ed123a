import { existsSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import { type AuthProvider, SdkError, SdkErrorCode, SdkHttpError } from "@modelcontextprotocol/client";
import type { LeftOutTool } from "@planwright/plan";
import type { ServerConfig } from "../config/load-servers-file.ts";
import { excerptOf, ServerUnreachableError, UnreadableAnswerError } from "./errors.ts";
import type { AddressGuard } from "./http-fetch.ts";
import type { ReadLargeAnswer } from "./large-answer.ts";
import type { ListedTools } from "./listed-tools.ts";
import { openSession, type Session, unlessAborted } from "./open-session.ts";

/** First wait after a connection was lost or failed, in milliseconds; doubles each time. */
const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 30_000;
/** After a connection that lived this long the backoff starts from the beginning. */
const STABLE_MS = 10_000;
/** A call makes a waiting connection try at once, but not more often than this. */
const MIN_ATTEMPT_INTERVAL_MS = 500;

const PROBE_INTERVAL_MS = 1_000;

/** The state of the connection to a server. */
export interface ServerStatus {
  server: string;
  state: "connected" | "connecting" | "waiting" | "closed";
  tools: number;
  /** Listed tools that no plan can use, the first 100. Absent before the first list. */
  leftOut?: LeftOutTool[] | undefined;
  /** Number of all such tools. Absent before the first list. */
  leftOutCount?: number | undefined;
  /** Why the last connection ended or failed; absent while connected. */
  error?: string | undefined;
  /** The last output of its process on standard error, without control characters; absent while connected. */
  stderrTail?: string | undefined;
  /** Unix milliseconds since when it is connected, or disconnected. */
  since: number;
  /** Unix milliseconds of the next attempt, while waiting. */
  nextAttemptAt?: number | undefined;
}

/** Events of a connection. */
interface ConnectionEvents {
  /** The tools of the server became known, or were listed again. */
  onTools(listed: ListedTools): void;
  /** The connection was opened, was lost, or failed: {@link ServerConnection.status} has the state. */
  onStatus(): void;
  /** The values that are masked in what the server sends. */
  secrets(): readonly string[];
  onLog(level: "debug" | "info" | "warn", message: string, facts: object): void;
}

/** Settings of all connections. */
interface ConnectionOptions extends Pick<ToolListingOptions, "refreshMs" | "maxListingAgeMs"> {
  connectTimeoutMs: number;
  maxTools: number;
  maxOutputBytes: number;
  readLarge: ReadLargeAnswer;
  addresses?: AddressGuard | undefined;
  authProvider?: AuthProvider | undefined;
  serversFolder?: string | undefined;
}

/** Why a server was not reloaded, and what its new process wrote to its standard error. */
export interface ReloadFailure {
  reason: string;
  stderrTail: string;
}

/** A connection that reconnects. */
export interface ServerConnection {
  readonly server: string;
  readonly config: ServerConfig;
  start(): void;
  /** Resolves when no attempt to connect is in progress. */
  settled(): Promise<void>;
  status(): ServerStatus;
  /**
   * The session for a call that can be sent at once: it is open, and as far as known its list of tools is
   * current.
   */
  current(): Session | undefined;
  /** True while this session is open, and its server has not reported changed tools since. */
  isCurrent(session: Session): boolean;
  /**
   * The session, as soon as there is one, with its current tools: reported changes are listed first.
   * @throws {ServerUnreachableError} when the next attempt fails as well
   */
  session(signal: AbortSignal): Promise<Session>;
  /** Ends the wait for the next attempt to connect, if there is one. */
  retryNow(): void;
  /** Checks in the background whether this session still reaches the server, at most once a second. */
  probe(session: Session): void;
  /**
   * This session no longer reaches the server: a new one is opened, and the old one ends with its last call.
   */
  suspect(session: Session, reason: string): void;
  /**
   * Opens a new session, of a stdio server with a new process, and lists its tools. From then on calls go to it;
   * calls in progress finish on the earlier one. When it cannot be opened, the earlier one stays in use, and the
   * failure is returned.
   */
  reload(): Promise<ReloadFailure | undefined>;
  close(): Promise<void>;
}

type State =
  | { name: "idle" }
  | { name: "connecting"; attempt: Promise<Session> }
  | { name: "connected"; session: Session; since: number }
  | { name: "waiting"; error: ServerUnreachableError; timer: NodeJS.Timeout; until: number }
  | { name: "closed" };

/**
 * Keeps one server connected:
 * 1. At most one session takes new calls, and at most one attempt is in progress.
 * 2. Every end of a session or attempt leads to the next attempt, after a wait that doubles, until `close()`.
 * 3. A failure of a server is thrown only to a call that waits for it.
 */
export function createServerConnection(
  server: string,
  config: ServerConfig,
  options: ConnectionOptions,
  events: ConnectionEvents,
): ServerConnection {
  let state: State = { name: "idle" };
  let failures = 0;
  let lastError: ServerUnreachableError | undefined;
  let lastAttemptAt = Number.NEGATIVE_INFINITY;
  let lastProbeAt = Number.NEGATIVE_INFINITY;
  let since = Date.now();
  /** What the process wrote to its standard output instead of messages, before it was connected. */
  let said: string | undefined;
  const probeMemory = { isHarmful: false };
  const stderrTail = createStderrTail();
  const closing = new AbortController();
  /** Sessions that take no more calls but may still have calls in progress. */
  const retired = new Set<Session>();
  const openNow = (): Session | undefined => (state.name === "connected" ? state.session : undefined);
  const listing = createToolListing({
    session: openNow,
    timeoutMs: options.connectTimeoutMs,
    refreshMs: options.refreshMs,
    maxListingAgeMs: options.maxListingAgeMs,
    closing: closing.signal,
    onTools: (listed) => events.onTools(listed),
    onWarning: (warning) => events.onLog("warn", warning, { server }),
    onFailed: (session, error) => suspect(session, reasonOf(error)),
  });

  /** Reads the state after a wait; without this the compiler assumes that it did not change. */
  const currentState = (): State => state;

  const closed = () => new ServerUnreachableError(server, "the connections are closed");

  /** Opens a session and lists its tools. @throws {ServerUnreachableError} */
  async function open(): Promise<Session> {
    const startedAt = performance.now();
    stderrTail.begin();
    said = undefined;
    let session: Session | undefined;
    let isLost = false;
    try {
      session = await openSession({
        server,
        config,
        timeoutMs: options.connectTimeoutMs,
        maxTools: options.maxTools,
        maxOutputBytes: options.maxOutputBytes,
        readLarge: options.readLarge,
        secrets: () => events.secrets(),
        probe: probeMemory,
        addresses: options.addresses,
        authProvider: options.authProvider,
        serversFolder: options.serversFolder,
        signal: closing.signal,
        onClosed: () => {
          isLost = true;
          if (session !== undefined) retired.delete(session);
          if (session !== undefined && openNow() === session) reconnectLater("the connection was closed");
        },
        onToolsChanged: () => listing.changed(),
        onStderr: (text) => {
          stderrTail.add(text);
          events.onLog("debug", "server wrote to stderr", { server, text: text.slice(0, 2_000) });
        },
        onStray: (text) => {
          if (said === undefined && openNow() === undefined) said = text;
          events.onLog("debug", "server sent something that is not a message", { server, text });
        },
        onError: (error) => events.onLog("debug", "connection error", { server, reason: sentenceOf(error) }),
      });
      await listing.read(session, options.connectTimeoutMs - (performance.now() - startedAt));
      if (isLost) throw new ServerUnreachableError(server, "the connection was closed");
      return session;
    } catch (error) {
      await session?.close().catch(ignore);
      throw error instanceof ServerUnreachableError
        ? error
        : new ServerUnreachableError(server, reasonOf(error), error, said);
    }
  }

  async function attempt(): Promise<Session> {
    lastAttemptAt = performance.now();
    let session: Session;
    try {
      session = await open();
    } catch (error) {
      wait(error as ServerUnreachableError);
      throw error;
    }
    if (closing.signal.aborted) {
      await session.close();
      throw new ServerUnreachableError(server, "the connections are being closed");
    }
    return take(session);
  }

  /** From now on calls go to this session. */
  function take(session: Session): Session {
    state = { name: "connected", session, since: performance.now() };
    since = Date.now();
    stderrTail.forget();
    events.onStatus();
    events.onLog("info", "connected", { server, tools: listing.count });
    listing.begin();
    return session;
  }

  /** Waits for a session until the call's signal is aborted. */
  const reached = (attempted: Promise<Session>, signal: AbortSignal): Promise<Session> =>
    unlessAborted(
      attempted,
      signal,
      () => new ServerUnreachableError(server, "no connection was opened in time"),
    );

  function connect(): Promise<Session> {
    if (state.name === "waiting") clearTimeout(state.timer);
    const promise = attempt();
    promise.catch(ignore); // the failure is in the state, and a waiting call gets it
    if (state.name !== "closed") state = { name: "connecting", attempt: promise };
    return promise;
  }

  function wait(error: ServerUnreachableError): void {
    if (state.name === "closed") return;
    failures += 1;
    lastError = error;
    const backoffMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failures - 1));
    const delayMs = Math.round(backoffMs * (0.5 + Math.random() / 2));
    const timer = setTimeout(() => void connect(), delayMs);
    state = { name: "waiting", error, timer, until: performance.now() + delayMs };
    const stderrText = stderrTail.text();
    const facts = { server, reason: shownReason(error), nextAttemptMs: delayMs };
    events.onLog("warn", "not connected", stderrText === "" ? facts : { ...facts, stderrTail: stderrText });
    events.onStatus();
  }

  const reasonOf = (error: unknown): string => unreachableReason(error, config, options.connectTimeoutMs);

  function reconnectLater(reason: string): void {
    listing.stop();
    since = Date.now();
    if (state.name === "connected" && performance.now() - state.since >= STABLE_MS) failures = 0;
    wait(new ServerUnreachableError(server, reason));
  }

  function probe(session: Session): void {
    if (openNow() !== session || performance.now() - lastProbeAt < PROBE_INTERVAL_MS) return;
    lastProbeAt = performance.now();
    void listing.refresh();
  }

  function suspect(session: Session, reason: string): void {
    if (openNow() !== session) return;
    retire(session);
    reconnectLater(reason);
  }

  /** The session ends with its last call. */
  function retire(session: Session): void {
    retired.add(session);
    session.retire();
  }

  /** One at a time: an earlier one may have started the program before its last change. */
  let reloading: Promise<unknown> = Promise.resolve();

  async function reload(): Promise<ReloadFailure | undefined> {
    try {
      await reconnect();
      return undefined;
    } catch (error) {
      const reason = error instanceof ServerUnreachableError ? error.facts.reason : reasonOf(error);
      const failure = { reason, stderrTail: stderrTail.text() };
      events.onLog("warn", "not reloaded", { server, ...failure });
      return failure;
    }
  }

  async function reconnect(): Promise<void> {
    // This attempt may have started the program before its last change.
    if (state.name === "connecting") await state.attempt.then(ignore, ignore);
    if (!openNow()) {
      if (state.name !== "waiting") throw closed();
      return void (await connect());
    }
    const session = await open();
    const now = currentState();
    if (now.name === "closed" || now.name === "connecting") {
      // The earlier session was lost meanwhile, and the attempt that followed starts the changed program too.
      await session.close();
      return void (now.name === "connecting" && (await now.attempt));
    }
    if (now.name === "waiting") clearTimeout(now.timer);
    take(session);
    if (now.name === "connected") retire(now.session);
  }

  return {
    server,
    config,
    start() {
      void connect();
      events.onStatus();
    },
    settled: async () => {
      if (state.name === "connecting") await state.attempt.then(ignore, ignore);
    },
    status: () => ({
      server,
      state: state.name === "idle" ? "connecting" : state.name,
      tools: listing.count,
      since,
      ...(state.name === "connected" || lastError === undefined ? {} : { error: shownReason(lastError) }),
      ...(state.name === "connected" ? {} : { stderrTail: stderrTail.text() || undefined }),
      ...(state.name === "waiting"
        ? { nextAttemptAt: Math.round(Date.now() + state.until - performance.now()) }
        : {}),
    }),
    current: () => {
      listing.renewIfOld();
      return listing.pending ? undefined : openNow();
    },
    isCurrent: (session) => openNow() === session && !listing.isStale,
    session: async (signal) => {
      // Waits for at most two listings. The second one began after the call arrived; a server that reports
      // changes without end would otherwise delay the call without end.
      for (let waits = 0; waits < 2; waits += 1) {
        listing.renewIfOld();
        if (!openNow() || !listing.pending) break;
        const failure = () => new ServerUnreachableError(server, "it did not list its tools in time");
        await unlessAborted(listing.pending, signal, failure);
      }
      if (state.name === "connected") return state.session;
      if (state.name === "idle" || state.name === "closed") throw closed();
      if (state.name === "connecting") return await reached(state.attempt, signal);
      const earliest = Math.min(state.until, lastAttemptAt + MIN_ATTEMPT_INTERVAL_MS);
      await sleep(earliest - performance.now(), signal);
      if (signal.aborted) throw new ServerUnreachableError(server, state.error.facts.reason, state.error);
      const next = currentState();
      if (next.name === "connected") return next.session;
      if (next.name === "closed") throw closed();
      return await reached(next.name === "connecting" ? next.attempt : connect(), signal);
    },
    suspect,
    probe,
    retryNow() {
      if (state.name === "waiting") void connect();
    },
    reload: () => {
      const done = reloading.then(reload);
      reloading = done.catch(ignore);
      return done;
    },
    close: async () => {
      const last = state;
      state = { name: "closed" };
      listing.stop();
      if (last.name === "waiting") clearTimeout(last.timer);
      closing.abort();
      const open = last.name === "connected" ? [last.session, ...retired] : [...retired];
      await Promise.allSettled(open.map((session) => session.close()));
      if (last.name === "connecting") await last.attempt.catch(ignore);
    },
  };
}

/** For failures that are reported elsewhere. */
function ignore(): void {}

/** Bounds of the shown output. */
const MAX_LINES = 20;
const MAX_CHARACTERS = 2_000;
/** Bytes that are kept. Escapes and invisible characters among them are removed when the text is shown. */
const MAX_KEPT = 8_192;

/** Control characters except the line break, format characters, line separators, lone surrogates. */
const NOT_VISIBLE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** The end of the standard error of a server's process, across restarts. */
interface StderrTail {
  /** Another process is started. Until it writes something, the output of the previous one is shown. */
  begin(): void;
  add(chunk: string): void;
  /** The server is connected, so its earlier output is not needed. */
  forget(): void;
  /**
   * The last lines as text without colours and control characters, at most 20 lines and 2,000 characters;
   * empty for a process that wrote nothing.
   */
  text(): string;
}

/** Keeps the output of a process, in bounded memory. */
export function createStderrTail(): StderrTail {
  let kept = "";
  let earlier = "";
  const text = () => lastLines(kept) || earlier;
  return {
    begin() {
      earlier = text();
      kept = "";
    },
    add(chunk) {
      kept = (kept + chunk).slice(-MAX_KEPT);
    },
    forget() {
      earlier = "";
      kept = "";
    },
    text,
  };
}

function lastLines(text: string): string {
  const clean = stripVTControlCharacters(text).replace(/\r\n?/g, "\n").replace(/\t/g, "  ");
  const lines = clean
    .replace(NOT_VISIBLE, "")
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "");
  const last = lines.slice(-MAX_LINES).join("\n");
  if (last.length <= MAX_CHARACTERS) return last;
  return `…${last.slice(1 - MAX_CHARACTERS).replace(/^[\udc00-\udfff]/, "")}`;
}

/**
 * Why a connection failed, in words that help an operator: the missing command, the ended process, the
 * timeout, the status of HTTP.
 * @param timeoutMs - how long the connection was awaited
 */
function unreachableReason(error: unknown, config: ServerConfig, timeoutMs: number): string {
  const spawned = config.type === "stdio" ? spawnFailure(error, config) : undefined;
  if (spawned !== undefined) return spawned;
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)
    return `it gave no answer within ${timeoutMs / 1_000} s`;
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed)
    return config.type === "stdio" ? "its process ended before it answered" : "the connection was closed";
  return sentenceOf(error);
}

/** The reason as operators see it: with what the process wrote to its standard output, which is for messages. */
function shownReason({ facts: { reason, said } }: ServerUnreachableError): string {
  return said === undefined
    ? reason
    : `${reason}; on its standard output, where only messages of the protocol may be, it wrote: ${said}`;
}

/**
 * The message of an error in one line of bounded length: no list of a validator, no page of a server, no
 * control characters.
 */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return excerptOf(String(error));
  if (error instanceof UnreadableAnswerError) return error.message;
  if (error instanceof SdkHttpError) return sentenceOfStatus(error);
  if ("issues" in error && Array.isArray(error.issues))
    return "it sent a message that is not valid in the protocol";
  if (error instanceof SdkError && error.code === SdkErrorCode.InvalidResult)
    return sentenceOfInvalid(error.message);
  const message = excerptOf(error.message);
  const { cause } = error;
  const isMore = cause instanceof Error && cause.message !== "" && !error.message.includes(cause.message);
  return isMore ? `${message} (${excerptOf(cause.message)})` : message;
}

/** The first thing that the SDK found wrong in an answer; it writes a list of all as JSON. */
function sentenceOfInvalid(message: string): string {
  const [, method, found = ""] = /^Invalid result for (\S{1,64}): ?(.*)$/s.exec(message) ?? [];
  const path = /"path":\s*\[([^\]]{0,200})\]/
    .exec(found)?.[1]
    ?.replace(/[\s"]+/g, "")
    .replaceAll(",", ".");
  const what = /"message":\s*"([^"\\]{0,200})"/.exec(found)?.[1] ?? (found.startsWith("[") ? "" : found);
  const details = [path, what].filter(Boolean).join(": ");
  return excerptOf(
    `its answer${method ? ` to ${method}` : ""} is not valid in the protocol${details && ` (${details})`}`,
  );
}

function sentenceOfStatus({ status, data }: SdkHttpError): string {
  if (status === 401 || status === 403)
    return `it refuses access (HTTP ${status}); check the headers of this server in the servers file`;
  const text = typeof data.text === "string" ? data.text : "";
  const isPage = /^\s*<|^\s*$/.test(text.slice(0, 100));
  return isPage ? `it answered with HTTP ${status}` : `it answered with HTTP ${status}: ${excerptOf(text)}`;
}

/** Why the process did not start; undefined when it did. */
function spawnFailure(
  error: unknown,
  { command, cwd }: Extract<ServerConfig, { type: "stdio" }>,
): string | undefined {
  if (!(error instanceof Error) || !("syscall" in error) || !("code" in error)) return undefined;
  if (!String(error.syscall).startsWith("spawn")) return undefined;
  if (cwd !== undefined && !existsSync(cwd)) return `its folder ${cwd} is not there`;
  if (error.code === "ENOENT") return `its command ${command} is not there`;
  if (error.code === "EACCES") return `its command ${command} may not be executed`;
  return error.message;
}

/**
 * Share of `refreshMs` for a server whose reports of changes do not arrive: one that was slow when it was connected
 * speaks an older protocol to us, perhaps without a stream for them, and one at its limit refuses the stream.
 */
const MISSED_SHARE = 1 / 6;
/** Pause before a server that keeps reporting changed tools is listed again, in milliseconds. */
const RELIST_PAUSE_MS = 100;

/** Dependencies of a listing. */
interface ToolListingOptions {
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
interface ToolListing {
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
function createToolListing(options: ToolListingOptions): ToolListing {
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
    const share = options.session()?.missesChanges() ? MISSED_SHARE : 1;
    refreshTimer = setTimeout(() => void refresh(), options.refreshMs * share);
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
function sleep(ms: number, signal: AbortSignal): Promise<void> {
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
