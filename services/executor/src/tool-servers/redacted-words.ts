import { isSecretKey, redactText } from "@planwright/runtime";
import type { ServerConfig } from "@planwright/tools";
import { createMasker } from "../secrets/masker.ts";

/** Texts without a space or slash in which letters and digits are mixed: keys look like this, and words do not. */
const LOOKS_LIKE_A_KEY = /^(?=.*\d)(?=.*[A-Za-z])[^\s/]{16,}$/;

/**
 * What a server wrote, without the secrets that are known: those that the servers file gives it (variables and headers by name, and what looks
 * like a key), those that plans have sent, and everything that has the form of a credential.
 * @param mask - takes out what plans have sent
 */
export function redactedWords(
  words: string,
  config: ServerConfig,
  mask: { text(text: string): string },
): string {
  const given = config.type === "stdio" ? config.env : config.headers;
  const secrets = Object.entries(given).flatMap(([name, value]) =>
    config.type === "http" || isSecretKey(name) || LOOKS_LIKE_A_KEY.test(value) ? [value] : [],
  );
  return redactText(mask.text(createMasker(secrets).text(words)));
}
