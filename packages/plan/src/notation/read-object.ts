import { createLiteralTexts } from "./literal-texts.ts";
import type { ReferenceObject } from "./reference-objects.ts";
import {
  type Notice,
  stepNamedIn,
  type Translating,
  translateText,
  wholeReference,
} from "./translate-text.ts";

/** The meaning of a reference object; undefined when it does not name a step, so that it is data. */
export function readObject(
  { source, inners, written, isMore }: ReferenceObject,
  translating: Translating,
): Notice | undefined {
  const found =
    wholeReference(written, translating) ??
    firstOf(inners, (inner) => noticeOf(`\${${inner}}`, translating)) ??
    noticeOf(written, translating) ??
    firstOf(inners, (inner) => stepNamedIn(inner, translating));
  if (!found) return undefined;
  const type = isMore && found.type === "translated" ? "malformed" : found.type;
  return { ...found, type, text: source, isObject: true };
}

function firstOf(inners: readonly string[], read: (inner: string) => Notice | undefined): Notice | undefined {
  for (const inner of inners) {
    const found = read(inner);
    if (found) return found;
  }
  return undefined;
}

/** The meaning of a text that is only a reference. */
function noticeOf(text: string, translating: Translating): Notice | undefined {
  const literals = createLiteralTexts([], undefined);
  const [notice, ...others] = translateText(text, { ...translating, literals })?.notices ?? [];
  return notice && others.length === 0 && notice.text === text && notice.type !== "unknown"
    ? notice
    : undefined;
}
