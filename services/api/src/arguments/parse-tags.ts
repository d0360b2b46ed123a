import { BadInputError } from "../errors/input-errors.ts";
import { quoted } from "./text.ts";

/** Most tags of one request. */
const MAX_TAGS = 10;
const TAG = /^[A-Za-z0-9._:/-]{1,64}$/;
const REMEDY = "A tag is 1 to 64 of A-Z a-z 0-9 . _ : / -, such as team:billing.";

/**
 * Tags without duplicates, in the given order.
 * @throws {BadInputError} for more than 10, and for an invalid tag
 */
export function parseTags(tags: readonly string[] | null | undefined): string[] {
  const given = tags ?? [];
  if (given.length > MAX_TAGS) {
    throw new BadInputError("tags", `${given.length} tags are too many`, `Give ${MAX_TAGS} at most.`);
  }
  return [...new Set(given.map((tag) => parseTag("tags", tag)))];
}

/** @throws {BadInputError} for an invalid tag */
export function parseTag(argument: string, tag: string): string {
  if (TAG.test(tag)) return tag;
  throw new BadInputError(argument, `Not a tag: ${quoted(tag)}`, REMEDY);
}
