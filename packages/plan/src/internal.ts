/**
 * Parts of the language that packages/reading is built from. They may change with it at any time: other packages
 * import the public names.
 */
export { comparisonsIn } from "./condition/comparisons.ts";
export { cut, DiagnosticCollector } from "./diagnostics/diagnostic-collector.ts";
export { wordsOf } from "./diagnostics/nearest-name.ts";
export {
  CALL_LISTS,
  callsIn,
  isArgumentsField,
  isCall,
  isCallField,
  isCatalogue,
  isNestedCallField,
  isToolField,
} from "./dialect/call-fields.ts";
export { forEachFields } from "./dialect/for-each-form.ts";
export { addNote } from "./dialect/judge-fields.ts";
export { isAgainstRunning, looksLikeEffect, plainName, saysNothing } from "./document/field-words.ts";
export { copyJson } from "./json/copy-json.ts";
export { jsonEquals } from "./json/json-equals.ts";
export { type Place, placeKeys, visitTexts } from "./json/map-json.ts";
export { setOwn } from "./json/own-property.ts";
export { fromJsonText } from "./json/parse-json.ts";
export { unescapeText } from "./json/unescape-text.ts";
export { wordContinues } from "./notation/word-boundary.ts";
export { readPlan } from "./reading/read-plan.ts";
export { escapeReferences } from "./reference/escape-references.ts";
export { scanText } from "./reference/scan-text.ts";
export { toArgumentProblem } from "./schema/argument-problem.ts";
export { checkAgainstSchema } from "./schema/compile-schema.ts";
export { toSegment } from "./schema/fit-texts.ts";
export { schemaAtPath } from "./schema/schema-paths.ts";
export { secretsMentioned } from "./secrets/secret.ts";
export { checkNoValues, type PlannedCall, type SaidHow } from "./validation/check-no-values.ts";
export { foreignReference, isPlaceholder, isPlaceholderFor } from "./validation/placeholder.ts";
