import { z } from "zod";
import type { Answer } from "../running-api.ts";
import { expandMacros } from "./expand-macros.ts";
import { RefusalSchema } from "./refusals.ts";
import type { RunningSystem } from "./running-system.ts";

/**
 * One request over HTTP that must be refused.
 * @param path - where it goes unless it says otherwise; the same for its headers
 */
export function httpCaseSchema(path: string, headers: Record<string, string>) {
  return z.strictObject({
    ...RefusalSchema,
    path: z.string().default(path),
    method: z.string().default("POST"),
    headers: z.record(z.string(), z.string()).default(headers),
    /** As it is sent. */
    body: z.string().optional(),
    /** The same in base64, for what is no text. */
    bytes: z.string().optional(),
    /** The same as JSON. */
    json: z.json().optional(),
  });
}
type HttpCase = z.infer<ReturnType<typeof httpCaseSchema>>;

/** Plays the case, and gives its answer. */
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
