import { z } from "zod";
import type { Answer } from "../running-api.ts";
import { expandMacros } from "./expand-macros.ts";
import { RefusalSchema } from "./refusals.ts";
import type { RunningSystem } from "./running-system.ts";

/**
 * One HTTP request that must be refused.
 * @param path - the default path of a case; `headers` likewise
 */
export function httpCaseSchema(path: string, headers: Record<string, string>) {
  return z.strictObject({
    ...RefusalSchema,
    path: z.string().default(path),
    method: z.string().default("POST"),
    headers: z.record(z.string(), z.string()).default(headers),
    /** The body as sent. */
    body: z.string().optional(),
    /** The same in base64, for bytes that are not text. */
    bytes: z.string().optional(),
    /** The same as JSON. */
    json: z.json().optional(),
  });
}
type HttpCase = z.infer<ReturnType<typeof httpCaseSchema>>;

/** Sends the case and returns its answer. */
export function sendCase(running: RunningSystem, { name, path, ...each }: HttpCase): Promise<Answer> {
  const { method, headers } = each;
  const body = bodyOf(each);
  const init = { method, headers, ...(body !== undefined && { body }) };
  return running.play(name, () => running.send(expandMacros(path), init));
}

function bodyOf({
  body,
  bytes,
  json,
}: Omit<HttpCase, "name" | "path">): string | Uint8Array<ArrayBuffer> | undefined {
  if (bytes !== undefined) return new Uint8Array(Buffer.from(bytes, "base64"));
  const text = json === undefined ? body : JSON.stringify(json);
  return text === undefined ? undefined : expandMacros(text);
}
