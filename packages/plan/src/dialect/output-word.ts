import type { PathSegment } from "../json/path.ts";
import type { SchemaAtPath } from "../schema/schema-paths.ts";

/** Words for the output itself that other languages put between a step and a field of its output. */
const OUTPUT_WORDS = new Set("output outputs result results response data return value returns".split(" "));

/**
 * The path without a word for the output itself: `s1.output._id` is `s1._id` where the output has a field
 * `_id` and can have none called `output`. Undefined when the path does not change, or its meaning is
 * uncertain.
 * @param schemaAt - the known schema of the source's output at a path
 */
export function withoutOutputWord(
  path: readonly PathSegment[],
  schemaAt: (path: readonly PathSegment[]) => SchemaAtPath,
): readonly PathSegment[] | undefined {
  const [first, ...rest] = path;
  if (first?.type !== "key" || !OUTPUT_WORDS.has(first.key)) return undefined;
  const own = schemaAt([first]);
  if (own.type !== "absent") return undefined;
  const isCertain = rest.length === 0 ? own.closed : schemaAt(rest).type === "known";
  return isCertain ? rest : undefined;
}
