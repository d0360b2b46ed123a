import { setTimeout as delay } from "node:timers/promises";
import type { Outcome } from "@planwright/engine";
import {
  bareName,
  canonicalDigest,
  createToolIndex,
  findLeftOut,
  isJsonObject,
  nameTools,
  type ToolDescriptor,
  toolDigest,
} from "@planwright/plan";
import { type ServersConfig, signedServers } from "../config/load-servers-file.ts";
import type { AddressGuard } from "../connection/http-fetch.ts";
import type { ReadLargeAnswer } from "../connection/large-answer.ts";
import { type ListedTools, MAX_LEFT_OUT } from "../connection/listed-tools.ts";
import {
  createServerConnection,
  type ReloadFailure,
  type ServerConnection,
  type ServerStatus,
} from "../connection/server-connection.ts";
import { createServerSignIn, type ServerSignIn, type SignIns } from "../connection/sign-in.ts";
import { createServerSecrets, type Masker } from "../masker.ts";
import { callTool, type ToolCall } from "./call-tool.ts";
import { notFound } from "./outcome-of-error.ts";
import { readLargeAnswer } from "./read-large-answer.ts";

/** Receives log lines; a pino logger fits. */
export interface ToolLogger {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

/** The tools of one server, with their names on that server and their digests. */
export interface ServerCatalogue {
  server: string;
  tools: { descriptor: ToolDescriptor; digest: string }[];
}

/** Settings of {@link createToolClients}; each has a default. */
export interface ToolClientsOptions {
  logger?: ToolLogger | undefined;
  /** Called whenever the tools of a server became known or changed. */
  onCatalogue?: ((catalogue: ServerCatalogue) => void) | undefined;
  /**
   * Called when a server is being connected, is connected, or is disconnected, and after every failed
   * attempt.
   */
  onStatus?: ((status: ServerStatus) => void) | undefined;
  /** Longest that a server may take to start and list its tools; 30 s. */
  connectTimeoutMs?: number | undefined;
  /** Longest that `start()` waits for slow servers; 5 s. They continue to connect after that. */
  startTimeoutMs?: number | undefined;
  /**
   * Folder below which each stdio server without `cwd` gets a folder of its own as its working directory, so
   * that its files are not between those of other programs. Default: servers run in that of this process.
   */
  serversFolder?: string | undefined;
  /** Where sign-ins at servers are stored. Default: a server with `auth` gets no token. */
  signIns?: SignIns | undefined;
  /** Which addresses HTTP servers may have; others fail as ADDRESS_FORBIDDEN. Default: any. */
  addresses?: AddressGuard | undefined;
  /** How often each server's tools are listed again; 60 s. */
  refreshMs?: number | undefined;
  /**
   * Tools of a server that cannot report changes are listed again before a call if their list is older than
   * this; 5 s.
   */
  maxListingAgeMs?: number | undefined;
  /** How long a cancelled call may still finish; 5 s. */
  cancelGraceMs?: number | undefined;
  /** Largest output of a call; 8 MiB. */
  maxOutputBytes?: number | undefined;
  /**
   * Reads messages of more than 256 KiB, which takes seconds for many fields: services do it in another
   * thread. Default: {@link readLargeAnswer} in this one.
   */
  readLarge?: ReadLargeAnswer | undefined;
  /** Most tools read from one server; 1,000. */
  maxTools?: number | undefined;
}

/** Connections to all configured MCP servers. */
export interface ToolClients {
  /**
   * Starts to connect, and waits until every server is connected or has failed once, or the timeout has
   * passed. Never throws because of a server.
   */
  start(): Promise<void>;
  /** Resolves when every server is connected or has failed once since the start, however long that takes. */
  tried(): Promise<void>;
  /** All known tools, by unique names; tools of an unreachable server stay. */
  catalogue(): ToolDescriptor[];
  status(): ServerStatus[];
  /** Makes a call. Never throws: every failure is an outcome. */
  callTool(call: ToolCall): Promise<Outcome>;
  /**
   * Remembers values that will be sent to a server: from now on they are masked in everything that it
   * answers, like the secrets of its configuration. Its catalogue is published again if it contains one of
   * them.
   */
  addSecrets(server: string, values: Iterable<string>): void;
  /** True while a server is known to answer only after a person has signed in. */
  needsSignIn(server: string): boolean;
  /**
   * Calls `then` once, when the server needs a sign-in no more. Returns what takes that back.
   */
  onSignedIn(server: string, then: () => void): () => void;
  /**
   * Ends the sign-ins of persons who came back from an authorization server, and connects to the servers. Never
   * throws because of a server. @returns the servers that need no sign-in any more since the last call
   */
  checkSignIns(): Promise<string[]>;
  /**
   * Connects to a server anew, a stdio server as a new process, and lists its tools; calls in progress finish on
   * the earlier connection. Never throws because of a server.
   */
  reload(server: string): Promise<Reload>;
  /** Closes all connections; calls in progress fail. */
  close(): Promise<void>;
}

/**
 * What came of reloading a server. `kept`: the new connection failed, and an earlier one stays in use, if there is
 * one. `unknown`: no such server is configured, or it is disabled.
 */
export type Reload = { type: "reloaded" } | ({ type: "kept" } & ReloadFailure) | { type: "unknown" };

interface NamedTool {
  ownName: string;
  connection: ServerConnection;
}

/**
 * Connects to MCP servers and calls their tools. Nothing happens before `start()`. Everything that a server
 * sends (outcomes, tools, states, log lines) is masked before it leaves this package, so it contains none of
 * the secrets that were sent to the server.
 */
export function createToolClients(config: ServersConfig, options: ToolClientsOptions = {}): ToolClients {
  const {
    logger,
    onCatalogue,
    onStatus,
    startTimeoutMs = 5_000,
    cancelGraceMs = 5_000,
    maxOutputBytes = 8 * 1_048_576,
  } = options;
  const toolsOf = new Map<string, ServerTools & { written: string }>();
  /** Tools as they were listed: they are masked again when a secret is added. */
  const listedOf = new Map<string, ListedTools>();
  const secretsOf = new Map(
    Object.entries(config.mcpServers).map(([name, server]) => [name, createServerSecrets(server)]),
  );
  const { signIns } = options;
  const signInOf = new Map<string, ServerSignIn>();
  if (signIns)
    for (const [server, { url, auth }] of signedServers(config)) {
      const mask = (values: readonly string[]) => maskAgain(server, secretsOf.get(server)?.addTokens(values));
      signInOf.set(server, createServerSignIn({ server, url, auth, signIns, addSecrets: mask }));
    }
  /** Servers that needed a sign-in at the last check, and what waits for it. */
  const needing = new Map<string, Set<() => void>>();
  let catalogue: ToolDescriptor[] = [];
  let index = createToolIndex([]);
  let known = new Map<ToolDescriptor, NamedTool>();

  const connections = Object.entries(config.mcpServers)
    .filter(([, server]) => !server.disabled)
    .map(([name, server]) =>
      createServerConnection(
        name,
        server,
        {
          connectTimeoutMs: options.connectTimeoutMs ?? 30_000,
          refreshMs: options.refreshMs ?? 60_000,
          maxListingAgeMs: options.maxListingAgeMs ?? 5_000,
          maxTools: options.maxTools ?? 1_000,
          maxOutputBytes,
          readLarge: options.readLarge ?? (async (job) => readLargeAnswer(job)),
          addresses: options.addresses,
          authProvider: signInOf.get(name)?.provider,
          serversFolder: options.serversFolder,
        },
        {
          onTools: (listed) => {
            if (listedOf.get(name) !== listed) takeTools(name, listed);
          },
          onStatus: () => reportStatus(name),
          secrets: () => secretsOf.get(name)?.values() ?? [],
          onLog: (level, message, facts) => {
            const masker = maskerOf(name);
            logger?.[level](maskedTexts(facts, masker), masker?.text(message) ?? message);
          },
        },
      ),
    );

  function maskerOf(server: string): Masker | undefined {
    return secretsOf.get(server)?.masker;
  }

  function statusOf(connection: ServerConnection): ServerStatus {
    const { server } = connection;
    const { leftOut, leftOutCount } = toolsOf.get(server) ?? {};
    return { ...maskedTexts(connection.status(), maskerOf(server)), leftOut, leftOutCount };
  }

  function reportStatus(server: string): void {
    const connection = connections.find((each) => each.server === server);
    if (connection) onStatus?.(statusOf(connection));
  }

  function takeTools(server: string, listed: ListedTools): void {
    listedOf.set(server, listed);
    const { tools, leftOut, leftOutCount } = maskedTools(server, listed, maskerOf(server));
    // Every character counts here, also what is no change for a plan: people and models read it.
    const written = canonicalDigest(tools);
    const before = toolsOf.get(server);
    toolsOf.set(server, { tools, leftOut, leftOutCount, written });
    const isSame = JSON.stringify(before?.leftOut ?? []) === JSON.stringify(leftOut);
    if (!isSame && leftOutCount > 0)
      logger?.warn({ server, leftOutCount, leftOut }, "listed tools are left out");
    if (!isSame || (before && before.tools.length !== tools.length)) reportStatus(server);
    if (before?.written === written) return;
    nameAll();
    onCatalogue?.({
      server,
      tools: tools.map((descriptor) => ({ descriptor, digest: toolDigest(descriptor) })),
    });
  }

  /** In the order of the configuration, so that names do not depend on which server connected first. */
  function nameAll(): void {
    const allTools = connections.flatMap((connection) =>
      (toolsOf.get(connection.server)?.tools ?? []).map((descriptor) => ({ descriptor, connection })),
    );
    catalogue = nameTools(allTools.map(({ descriptor }) => descriptor));
    index = createToolIndex(catalogue);
    known = new Map();
    allTools.forEach(({ descriptor: listed, connection }, position) => {
      const descriptor = catalogue[position];
      if (descriptor !== undefined) known.set(descriptor, { ownName: bareName(listed), connection });
    });
  }

  function namedTool({ tool, server }: ToolCall): NamedTool | undefined {
    const found = server === undefined ? index.find(tool) : index.findOfServer(server, tool);
    if (found !== undefined) return known.get(found);
    // A server that was not reached yet may have the tool, so the call is tried.
    const connection = connections.find((each) => each.server === server);
    if (connection === undefined || toolsOf.has(connection.server)) return undefined;
    return { ownName: tool, connection };
  }

  /** @param isNew - there are secrets that may be in its tools */
  function maskAgain(server: string, isNew = false): void {
    const listed = listedOf.get(server);
    if (isNew && listed) takeTools(server, listed);
  }

  /** The reason why a listed tool cannot be called. */
  function leftOutOf({ tool, server }: ToolCall): string | undefined {
    const all = [...toolsOf.values()].flatMap(({ leftOut }) => leftOut);
    return findLeftOut(server === undefined ? all : all.filter((each) => each.server === server), tool)
      ?.reason;
  }

  const tried = async () => void (await Promise.all(connections.map((connection) => connection.settled())));

  return {
    start: async () => {
      for (const connection of connections) connection.start();
      const stopWaiting = new AbortController();
      const timeout = delay(startTimeoutMs, undefined, { signal: stopWaiting.signal }).catch(() => undefined);
      await Promise.race([tried(), timeout]);
      stopWaiting.abort();
    },
    tried,
    catalogue: () => [...catalogue],
    status: () => connections.map(statusOf),
    callTool: async (call) => {
      const named = namedTool(call);
      if (named === undefined) return notFound(call.tool, call.server, leftOutOf(call));
      const { server } = named.connection;
      const offered = () => index.findOfServer(server, named.ownName);
      const outcome = await callTool(call, { ...named, offered, maxOutputBytes, cancelGraceMs });
      return maskerOf(server)?.outcome(outcome) ?? outcome;
    },
    addSecrets: (server, values) => maskAgain(server, secretsOf.get(server)?.add(values)),
    needsSignIn: (server) => signInOf.get(server)?.isNeeded() === true,
    onSignedIn: (server, then) => {
      const waiting = needing.get(server) ?? new Set();
      needing.set(server, waiting.add(then));
      return () => void waiting.delete(then);
    },
    checkSignIns: async () => {
      const checks = [...signInOf].map(async ([server, signIn]) => {
        if (!signIn.isNeeded()) return;
        if (!needing.has(server)) needing.set(server, new Set());
        await signIn.check().catch((error: unknown) => {
          const reason = error instanceof Error ? error.message : String(error);
          const masked = maskerOf(server)?.text(reason) ?? reason;
          logger?.warn({ server, reason: masked }, "the sign-in could not be checked");
        });
      });
      await Promise.all(checks);
      const ended = [...needing].filter(([server]) => !signInOf.get(server)?.isNeeded());
      for (const [server, waiting] of ended) {
        needing.delete(server);
        connections.find((each) => each.server === server)?.retryNow();
        for (const then of waiting) then();
      }
      return ended.map(([server]) => server);
    },
    reload: async (server) => {
      const connection = connections.find((each) => each.server === server);
      if (!connection) return { type: "unknown" };
      const failure = await connection.reload();
      return failure ? { type: "kept", ...maskedTexts(failure, maskerOf(server)) } : { type: "reloaded" };
    },
    close: async () => void (await Promise.all(connections.map((connection) => connection.close()))),
  };
}

/** Facts with their texts masked, at the first level. */
function maskedTexts<Facts extends object>(facts: Facts, masker: Masker | undefined): Facts {
  if (!masker) return facts;
  const entries = Object.entries(facts).map(([name, fact]) => [
    name,
    typeof fact === "string" && name !== "server" ? masker.text(fact) : fact,
  ]);
  // Texts are only replaced by texts.
  return Object.fromEntries(entries) as Facts;
}

/** What a server lists, after masking. */
type ServerTools = Omit<ListedTools, "warnings">;

/** A tool with a secret in its name is left out, because it could not be called by another name. */
function maskedTools(server: string, listed: ServerTools, masker: Masker | undefined): ServerTools {
  if (!masker) return listed;
  const tools = listed.tools.flatMap((tool) => maskedTool(tool, masker) ?? []);
  const secret = listed.tools.filter(({ name }) => masker.text(name) !== name);
  const unnamable = secret.map(({ name }) => ({
    server,
    tool: masker.text(name),
    reason: "its name contains a secret that was sent to the server",
  }));
  const others = listed.leftOut.map(({ tool, reason }) => ({
    server,
    tool: tool === null ? null : masker.text(tool),
    reason: masker.text(reason),
  }));
  return {
    tools,
    leftOut: [...unnamable, ...others].slice(0, MAX_LEFT_OUT),
    leftOutCount: listed.leftOutCount + unnamable.length,
  };
}

/**
 * A masked tool; undefined for a tool with a secret in its name, because it could not be called by another
 * name.
 */
function maskedTool(tool: ToolDescriptor, masker: Masker): ToolDescriptor | undefined {
  const { name, server, trusted, override, ...descriptor } = tool;
  if (masker.text(name) !== name) return undefined;
  if (!isJsonObject(descriptor)) return tool;
  const shown = masker.json(descriptor);
  if (shown === descriptor || !isJsonObject(shown)) return tool;
  return {
    ...shown,
    name,
    ...(server === undefined ? {} : { server }),
    ...(trusted === undefined ? {} : { trusted }),
    ...(override === undefined ? {} : { override }),
  };
}
