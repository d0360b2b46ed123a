import { isSecretKey } from "@planwright/plan";
import type { ServerConfig } from "../config/server-config.ts";
import { createMasker, type Masker } from "./masker.ts";

/** Values of one server that plans have sent and that are remembered; those of its configuration come on top. */
const MAX_REMEMBERED = 1_000;

/** Headers that say who, what and where, and not who may: their values stand in outputs that are no secret. */
const PUBLIC_HEADER =
  /^(?:accept|accept-.*|content-.*|user-agent|host|origin|referer|cache-control|prefer|traceparent|tracestate|mcp-.*|.*(?:tenant|region|version|locale|language|timezone|organi[sz]ation|workspace|project|environment))$/i;
/** Texts without a space or slash in which letters and digits are mixed: keys look like this, and words do not. */
const LOOKS_LIKE_A_KEY = /^(?=.*\d)(?=.*[A-Za-z])[^\s/]{16,}$/;
const SCHEME = /^(?:Bearer|Basic|Token|ApiKey|Digest) +/i;
/** `user:password@` in an address. */
const PASSWORD = /:\/\/[^\s/@:]{0,256}:([^\s/@]{1,512})@/;
/** `--api-key=…`, `-token=…` */
const FLAG = /^-{1,2}([\w.-]{1,100})(?:=(.*))?$/s;

/** What one server was given that must not be shown: the one place that knows. */
export interface ServerSecrets {
  /** Finds all of them in what the server said. */
  readonly masker: Masker;
  /** Remembers values that the server is about to be sent. @returns false when all of them were known */
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
 * Values in the configuration of a server that are secrets: every header but those that say no more than who or what; variables and command line options
 * whose name says so or whose value looks like a key; what stands in addresses as a password, or behind such a name.
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

/** `Bearer x` is x; `Basic` of a name and a password is the password as well. */
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

/** As it was before it was written into an address. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // not written as addresses are
  }
}
