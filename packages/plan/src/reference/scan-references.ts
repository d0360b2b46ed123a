import type { JsonValue } from "../json/json.ts";
import { placeKeys, visitTexts } from "../json/map-json.ts";
import type { TextReference } from "./read-reference.ts";
import { scanText } from "./scan-text.ts";

/** A reference with the path of its text in the scanned value. */
export interface Reference extends Omit<TextReference, "type"> {
  /** Path from the value to the text; empty when the value is the text. */
  readonly at: readonly (string | number)[];
  /** True when the text is only this reference: the resolved value keeps its JSON type. */
  readonly isWhole: boolean;
}

/**
 * All references in the texts of a value, in document order; keys of objects are not scanned. Takes linear
 * time and never throws. Does not check whether the roots exist.
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
