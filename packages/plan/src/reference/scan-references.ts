import type { JsonValue } from "../json/json.ts";
import { placeKeys, visitTexts } from "../json/map-json.ts";
import type { TextReference } from "./read-reference.ts";
import { scanText } from "./scan-text.ts";

/** A reference with the place of its text in the value that was scanned. */
export interface Reference extends Omit<TextReference, "type"> {
  /** Keys from the value's root to the text; empty when the value is the text. */
  readonly at: readonly (string | number)[];
  /** True when the text is this reference and nothing else: the value keeps its JSON type. */
  readonly isWhole: boolean;
}

/**
 * All references in the texts of a value, in document order; keys of objects are not scanned. Takes linear
 * time and never throws. Whether the roots exist is for the caller to say.
 */
export function scanReferences(value: JsonValue): Reference[] {
  const references: Reference[] = [];
  visitTexts(value, (source, place) => {
    const scanned = scanText(source);
    if (!scanned) return;
    const isWhole = scanned.parts.length === 1;
    const at = placeKeys(place);
    for (const part of scanned.parts) {
      if (part.type === "literal") continue;
      const { text, spelling, root, path, start, end } = part;
      references.push({ text, spelling, root, path, start, end, at, isWhole });
    }
  });
  return references;
}
