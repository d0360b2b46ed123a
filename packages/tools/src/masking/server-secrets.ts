import { isSecretKey } from "@planwright/plan";
import type { ServerConfig } from "../config/server-config.ts";
import { createMasker, type Masker } from "./masker.ts";

/**
 * Most values sent by plans that are remembered for one server, in addition to those of its configuration.
 */
const MAX_REMEMBERED = 1_000;

/** Headers with public values: they identify a client or an environment and grant no access. */
const PUBLIC_HEADER =
  /^(?:accept|accept-.*|content-.*|user-agent|host|origin|referer|cache-control|prefer|traceparent|tracestate|mcp-.*|.*(?:tenant|region|version|locale|language|timezone|organi[sz]ation|workspace|project|environment))$/i;
/** Texts without a space or slash that mix letters and digits: keys look like this, and words do not. */
const LOOKS_LIKE_A_KEY = /^(?=.*\d)(?=.*[A-Za-z])[^\s/]{16,}$/;
const SCHEME = /^(?:Bearer|Basic|Token|ApiKey|Digest) +/i;
/** `user:password@` in an address. */
const PASSWORD = /:\/\/[^\s/@:]{0,256}:([^\s/@]{1,512})@/;
/** `--api-key=…`, `-token=…` */
const FLAG = /^-{1,2}([\w.-]{1,100})(?:=(.*))?$/s;

/** The secrets of one server. Only this module decides what they are. */
export interface ServerSecrets {
  /** Masks all of them in what the server sends. */
  readonly masker: Masker;
  /** All of them. */
  values(): readonly string[];
  /** Remembers values that will be sent to the server. @returns false when all of them were known */
  add(values: Iterable<string>): boolean;
}

/** The secrets of one server: those that the servers file gives it, and those that are added. */
export function createServerSecrets(config: ServerConfig): ServerSecrets {
  const given = secretsGiven(config);
  const sent = new Set<string>();
  let masker = createMasker(given);
  return {
    get masker() {
      return masker;
    },
    values: () => [...given, ...sent],
    add(values) {
      const fresh = [...values].filter((value) => !sent.has(value));
      if (fresh.length === 0) return false;
      for (const value of fresh) sent.add(value);
      for (const oldest of sent) if (sent.size > MAX_REMEMBERED) sent.delete(oldest);
      masker = createMasker([...given, ...sent]);
      return true;
    },
  };
}

/**
 * The secret values in the configuration of a server: every header that is not public; variables and command
 * line options with a secret name or a value that looks like a key; passwords in addresses, and address
 * parameters with such a name or value.
 */
function secretsGiven(config: ServerConfig): string[] {
  if (config.type === "stdio") {
    const variables = Object.entries(config.env).flatMap(([name, value]) => secretsIn(name, value));
    return [...variables, ...secretsInOptions(config.args)];
  }
  const headers = Object.entries(config.headers).filter(([name]) => !PUBLIC_HEADER.test(name));
  return [...headers.flatMap(([, value]) => secretsOfHeader(value)), ...secretsInAddress(config.url)];
}

function secretsIn(name: string, value: string): string[] {
  if (isSecretKey(name) || LOOKS_LIKE_A_KEY.test(value)) return [value, ...secretsInAddress(value)];
  return secretsInAddress(value);
}

/** `Bearer x` gives x; `Basic` of a name and a password gives the password as well. */
function secretsOfHeader(value: string): string[] {
  const bare = value.replace(SCHEME, "").trim();
  if (!/^Basic /i.test(value)) return [bare];
  const decoded = Buffer.from(bare, "base64").toString("utf8");
  return [bare, decoded, decoded.slice(decoded.indexOf(":") + 1)];
}

function secretsInOptions(args: readonly string[]): string[] {
  return args.flatMap((option, index) => {
    const [, name = "", value] = FLAG.exec(option) ?? [];
    if (value !== undefined) return secretsIn(name, value);
    const next = args[index + 1];
    return isSecretKey(name) && next !== undefined ? [next] : secretsIn("", option);
  });
}

function secretsInAddress(address: string): string[] {
  const password = PASSWORD.exec(address)?.[1];
  const query = new URLSearchParams(address.split("?")[1]?.split("#")[0] ?? "");
  const named = [...query].flatMap(([name, value]) =>
    isSecretKey(name) || LOOKS_LIKE_A_KEY.test(value) ? [value] : [],
  );
  return password === undefined ? named : [password, decoded(password), ...named];
}

/** The text before it was encoded for an address. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // not encoded for an address
  }
}
