import { plainName } from "../document/field-words.ts";
import type { UnknownField } from "./read-fields.ts";

/** Fields in which authors give a step or its output another name. */
const LABELS = new Set(
  (
    "label name alias as var variable variablename output outputname outputvariable outputvar outputkey outputas outputlabel " +
    "result resultname resultvariable resultvar resultkey resultas saveas saveresultas saveoutputas saveto storeas storeresultas " +
    "storeresultin storein assignto assign bindto produces returns returnvalue"
  ).split(" "),
);
/** Longer texts are sentences, not names. */
const MAX_LENGTH = 64;
/** Template brackets around a name: `{{author}}`, `<author>`. */
const WRAPPED = /^(?:\{\{?|<<?|\[\[?|\$\{|%)\s*([^{}<>[\]%]+?)\s*(?:\}\}?|>>?|\]\]?|%)$/;

/**
 * Further names of a step for references: `save_as: "author"`, `label: "$var1"`, `name` next to a tool. A
 * label counts only when it is not an id in the plan, so it never changes the meaning of an id.
 */
export function readLabels(unknown: readonly UnknownField[]): string[] {
  const labels = unknown.flatMap(({ name, value }) => {
    if (typeof value !== "string" || !LABELS.has(plainName(name))) return [];
    const label = value.trim();
    return [WRAPPED.exec(label)?.[1] ?? label];
  });
  return [...new Set(labels.filter((label) => label !== "" && label.length <= MAX_LENGTH))];
}
