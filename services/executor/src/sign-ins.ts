/**
 * The sign-ins at tool servers, stored for all executors. What is secret in them is encrypted with SIGN_IN_KEY, which
 * only executors have: who reads the database or a backup of it has no token.
 */
import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { CodedError } from "@planwright/plan";
import type { Logger } from "@planwright/runtime";
import type { ExecutionStore, SignInDocument, StoredSignIn } from "@planwright/store";
import type { SignIn, SignIns, ToolClients } from "@planwright/tools";
import type { ExecutorSettings } from "./env.ts";

/** An executor changes a sign-in for at most this long, in milliseconds: a step is up to eight requests of 10 s. */
const HELD_MS = 120_000;
/** How often a sign-in that another executor changes is asked for, in milliseconds, and for how long. */
const ASK_EVERY_MS = 100;
const ASK_FOR_MS = 20_000;

/** Another executor changes the sign-in: for longer than a call may wait, or because this one took too long. */
class SignInHeldError extends CodedError<{ server: string }> {
  readonly code = "SIGN_IN_HELD";
  readonly retryable = true;
  constructor(server: string) {
    super(`Another executor is signing in at ${server}; it is tried again`, { server });
  }
}

/** What is encrypted of a sign-in. */
type Sealed = Pick<SignIn, "client" | "tokens" | "discovery"> & { codeVerifier?: string | undefined };

/** Dependencies of {@link createSignIns}. */
interface SignInsParts {
  store: Pick<ExecutionStore, "readSignIn" | "holdSignIn" | "storeSignIn">;
  /** The key for encryption, 32 bytes. Called before the first sign-in is read or stored. */
  key: () => Promise<Uint8Array>;
  redirectUrl: string;
  fetch: SignIns["fetch"];
  logger: Pick<Logger, "warn">;
}

/** Sign-ins in the store. */
export function createSignIns({ store, key: readKey, redirectUrl, fetch, logger }: SignInsParts): SignIns {
  let reading: Promise<Uint8Array> | undefined;
  const keyOf = (): Promise<Uint8Array> => {
    reading ??= readKey();
    return reading;
  };

  /** A sign-in that was encrypted with another key is lost: a person signs in again. */
  async function opened(document: SignInDocument): Promise<SignIn | undefined> {
    const { server, url, sealed, asked, answer, error, tokensEndAt } = document;
    if (sealed === "") return undefined;
    const secret = open(sealed, { key: await keyOf(), server, url });
    if (!secret) {
      logger.warn(
        { server },
        "the sign-in was stored with another SIGN_IN_KEY: a person has to sign in again",
      );
      return undefined;
    }
    const { codeVerifier = "", ...others } = secret;
    return {
      url,
      ...others,
      tokensEndAt: tokensEndAt?.getTime(),
      asked: asked ? { ...asked, since: asked.since.getTime(), codeVerifier } : undefined,
      answer: answer ?? undefined,
      error: error ?? undefined,
    };
  }

  async function closed(server: string, signIn: SignIn): Promise<StoredSignIn> {
    const { url, client, tokens, discovery, asked, error, tokensEndAt } = signIn;
    const secret: Sealed = { client, tokens, discovery, codeVerifier: asked?.codeVerifier };
    return {
      url,
      sealed: seal(secret, { key: await keyOf(), server, url }),
      tokensEndAt: tokensEndAt === undefined ? null : new Date(tokensEndAt),
      asked: asked
        ? { authorizationUrl: asked.authorizationUrl, state: asked.state, since: new Date(asked.since) }
        : null,
      error: error ?? null,
    };
  }

  async function read(server: string): Promise<SignIn | undefined> {
    const stored = await store.readSignIn(server);
    return stored ? await opened(stored) : undefined;
  }

  return {
    redirectUrl,
    fetch,
    read,
    async change(server, work) {
      const holder = randomUUID();
      const endsAt = performance.now() + ASK_FOR_MS;
      while (!(await store.holdSignIn(server, holder, HELD_MS))) {
        if (performance.now() > endsAt) throw new SignInHeldError(server);
        await delay(ASK_EVERY_MS);
      }
      let toStore: StoredSignIn | null;
      let changed: SignIn;
      try {
        const stored = await read(server);
        changed = await work(stored);
        toStore = changed === stored ? null : await closed(server, changed);
      } catch (error) {
        await store.storeSignIn(server, holder, null);
        throw error;
      }
      if (!(await store.storeSignIn(server, holder, toStore))) throw new SignInHeldError(server);
      return changed;
    },
  };
}

/** The key in SIGN_IN_KEY; without it that in a file of DATA_DIR, which the first call makes for its user alone. */
export async function readSignInKey({
  SIGN_IN_KEY,
  DATA_DIR,
}: Pick<ExecutorSettings, "SIGN_IN_KEY" | "DATA_DIR">): Promise<Uint8Array> {
  if (SIGN_IN_KEY !== undefined) return Buffer.from(SIGN_IN_KEY, "hex");
  const file = join(DATA_DIR, "sign-in.key");
  await mkdir(DATA_DIR, { recursive: true });
  if (!existsSync(file)) {
    // Several processes may make it at the same time: the first complete file is the one that all use.
    const own = `${file}.${randomUUID()}`;
    await writeFile(own, randomBytes(KEY_BYTES).toString("hex"), { mode: 0o600 });
    await link(own, file).catch((error: unknown) => {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    });
    await rm(own);
  }
  const key = Buffer.from((await readFile(file, "utf8")).trim(), "hex");
  if (key.length !== KEY_BYTES) throw new SignInKeyError({ file });
  return key;
}

const KEY_BYTES = 32;

/** The file of the key for sign-ins holds no key. */
class SignInKeyError extends CodedError<{ file: string }> {
  readonly code = "SIGN_IN_KEY_INVALID";
  readonly retryable = false;
  constructor(facts: { file: string }) {
    super(`${facts.file} must hold 64 hexadecimal digits; without the file a new key is made`, facts);
  }
}

/** Bytes of the nonce and of the tag of AES-256-GCM. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** For which server a text is encrypted: it cannot be used for another one. */
interface SealedFor {
  key: Uint8Array;
  server: string;
  url: string;
}

function seal(secret: Sealed, { key, server, url }: SealedFor): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  cipher.setAAD(Buffer.from(JSON.stringify([server, url])));
  const content = [cipher.update(JSON.stringify(secret), "utf8"), cipher.final()];
  return Buffer.concat([nonce, cipher.getAuthTag(), ...content]).toString("base64");
}

/** Undefined for a text that is not for this server, or was encrypted with another key. */
function open(sealed: string, { key, server, url }: SealedFor): Sealed | undefined {
  const bytes = Buffer.from(sealed, "base64");
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, NONCE_BYTES));
    decipher.setAAD(Buffer.from(JSON.stringify([server, url])));
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    const content = [decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()];
    return JSON.parse(Buffer.concat(content).toString("utf8"));
  } catch {
    return undefined;
  }
}

/** Plans are also woken this often, in milliseconds, while no server needs a sign-in. */
const WAKE_EVERY_MS = 30_000;

/** Dependencies of {@link createSignInChecks}. */
interface SignInChecksParts {
  store: Pick<ExecutionStore, "wakeSignIns">;
  tools: Pick<ToolClients, "checkSignIns" | "needsSignIn">;
  /** The servers with a sign-in. */
  servers: readonly string[];
  /** Milliseconds of a clock that does not jump. */
  now: () => number;
  logger: Pick<Logger, "info">;
}

/**
 * Ends sign-ins, and lets the plans continue that waited for them. One check at a time. The executor that saw the end of a
 * sign-in may die before it has told the plans, so all executors tell them from time to time.
 */
export function createSignInChecks({ store, tools, servers, now, logger }: SignInChecksParts): {
  check(): Promise<void>;
} {
  let isChecking = false;
  let wakeAt = 0;
  /** A sign-in has ended, and the plans are not told yet. */
  let isToTell = false;
  return {
    async check() {
      if (isChecking || servers.length === 0) return;
      isChecking = true;
      try {
        const ended = await tools.checkSignIns();
        if (ended.length > 0) {
          isToTell = true;
          logger.info({ servers: ended }, "signed in at tool servers");
        }
        const isNeeded = servers.some((server) => tools.needsSignIn(server));
        if (!isToTell && (isNeeded || now() < wakeAt)) return;
        const plans = await store.wakeSignIns();
        isToTell = false;
        wakeAt = now() + WAKE_EVERY_MS;
        if (plans > 0) logger.info({ plans }, "plans that waited for a sign-in go on");
      } finally {
        isChecking = false;
      }
    },
  };
}
