import { type JsonValue } from "@planwright/plan";
import { findJson } from "./find-json.ts";

/**
 * The JSON value of a text that contains only this value, apart from spaces and a code fence; otherwise
 * undefined.
 */
export function innerJson(text: string): { value: JsonValue; isRepaired: boolean } | undefined {
  const trimmed = text.trim();
  if (!/^(?:[{["]|```)/.test(trimmed)) return undefined;
  const { values, broken, isCut, isTooDeep } = findJson(trimmed);
  const [only, ...others] = values;
  if (!only || others.length > 0 || broken.length > 0 || isCut || isTooDeep) return undefined;
  const around = `${trimmed.slice(0, only.start)}${trimmed.slice(only.end)}`.replace(/[\s"]+/g, "");
  return /^(?:```(?:json)?(?:```)?)?$/i.test(around) ? only : undefined;
}
