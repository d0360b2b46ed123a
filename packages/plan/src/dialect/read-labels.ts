import { plainName } from "./field-words.ts";
import type { UnknownField } from "./read-fields.ts";

/** Fields in which writers give a step, or what it gives, another name. */
const LABELS = new Set(
  (
    "label name alias as var variable variablename output outputname outputvariable outputvar outputkey outputas outputlabel " +
    "result resultname resultvariable resultvar resultkey resultas saveas saveresultas saveoutputas saveto storeas storeresultas " +
    "storeresultin storein assignto assign bindto produces returns returnvalue"
  ).split(" "),
);
/** Longer texts are sentences. */
const MAX_LENGTH = 64;
/** Signs of templates around a name: `{{author}}`, `<author>`. */
const WRAPPED = /^(?:\{\{?|<<?|\[\[?|\$\{|%)\s*([^{}<>[\]%]+?)\s*(?:\}\}?|>>?|\]\]?|%)$/;

/**
 * Further names by which references may mean a step: `save_as: "author"`, `label: "$var1"`, `name` beside a
 * tool. A name counts only where nothing of the plan has it as its id, so a label never changes what an id
 * means.
 */
export function readLabels(unknown: readonly UnknownField[]): string[] {
  const labels = unknown.flatMap(({ name, value }) => {
    if (typeof value !== "string" || !LABELS.has(plainName(name))) return [];
    const label = value.trim();
    return [WRAPPED.exec(label)?.[1] ?? label];
  });
  return [...new Set(labels.filter((label) => label !== "" && label.length <= MAX_LENGTH))];
}
