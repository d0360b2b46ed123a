import { Refusal, type ToolDefinition } from "@planwright/tool-kit";
import { ObjectId } from "mongodb";
import { z } from "zod";

/** Longest name and title, in characters. */
export const MAX_NAME = 200;
/** Longest text of a blog or a comment, in characters. */
export const MAX_CONTENT = 100_000;

/**
 * An argument that contains an id. Its form is checked by {@link parseId}, so that the refusal is a clear
 * text.
 */
export function idField(description: string) {
  return z.string().min(1).max(200).describe(description);
}

/** A required text of one line. */
export function nameField(description: string) {
  return z.string().min(1).max(MAX_NAME).regex(/\S/, "must not be blank").describe(description);
}

/** A required text of any length up to {@link MAX_CONTENT}. */
export function contentField(description: string) {
  return z.string().min(1).max(MAX_CONTENT).regex(/\S/, "must not be blank").describe(description);
}

/**
 * An email address. The pattern is deliberately loose: only sending a message shows whether an address works.
 */
export function emailField(description: string) {
  return z
    .string()
    .max(320)
    .regex(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, "must be an email address such as alice@example.com")
    .meta({ description, format: "email" });
}

/** An address of the web. */
export function urlField(description: string) {
  return z
    .string()
    .max(2_048)
    .regex(/^https?:\/\/[^\s/]+\S*$/, "must start with http:// or https://")
    .meta({ description, format: "uri" });
}

/** Fields that every output has. */
export const outputFields = {
  createdAt: z.string().describe("When it was created, ISO 8601"),
  updatedAt: z.string().describe("When it was last changed, ISO 8601"),
};

/** Output of a delete tool. */
export const DeletedSchema = z.object({
  _id: z.string().describe("The _id of what was deleted"),
  deleted: z.literal(true),
});

/** The id in an argument. @throws {Refusal} */
export function parseId(field: string, value: string): ObjectId {
  if (!/^[0-9a-fA-F]{24}$/.test(value)) {
    const shown = value.length > 60 ? `${value.slice(0, 60)}...` : value;
    throw new Refusal(`${field} "${shown}" is not a valid id: ids have 24 hexadecimal characters`);
  }
  return ObjectId.createFromHexString(value);
}

type Promises = Pick<ToolDefinition<z.ZodObject, z.ZodObject>, "annotations" | "contract">;

/** Contract of tools that create something new, once for each idempotency key. */
export const CREATES = {
  annotations: { destructiveHint: false, openWorldHint: false },
  contract: {
    mode: "parallel-safe",
    side_effects: true,
    idempotency: "key",
    provides: ["_id"],
    error_propagation: "fail-fast",
  },
} satisfies Promises;

/** Contract of tools that only read. */
export const READS = {
  annotations: { openWorldHint: false },
  contract: {
    mode: "parallel-safe",
    side_effects: false,
    idempotency: "natural",
    error_propagation: "partial-success",
  },
} satisfies Promises;

/**
 * Contract of tools that set fields to given values: a repeat changes nothing more. They overwrite, so they
 * are destructive.
 */
export const UPDATES = {
  annotations: { destructiveHint: true, openWorldHint: false },
  contract: {
    mode: "parallel-safe",
    side_effects: true,
    idempotency: "natural",
    error_propagation: "fail-fast",
  },
} satisfies Promises;

/**
 * Contract of tools that delete. A repeat with the same idempotency key answers "deleted", not "not found".
 * Without a key a repeat is refused, and changes nothing either.
 */
export const DELETES = {
  annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
  contract: {
    mode: "parallel-safe",
    side_effects: true,
    idempotency: "key",
    error_propagation: "fail-fast",
  },
} satisfies Promises;
