/**
 * Parts of the language that packages/reading is built from. They may change with it at any time: other packages
 * import the public names.
 */

export { cut, DiagnosticCollector, wordsOf } from "./diagnostics/diagnostic.ts";
export {
  addNote,
  CALL_LISTS,
  callsIn,
  forEachFields,
  isArgumentsField,
  isCall,
  isCallField,
  isCatalogue,
  isNestedCallField,
  isToolField,
} from "./dialect/call-fields.ts";
export { readPlan } from "./dialect/read-plan.ts";
export { isAgainstRunning, looksLikeEffect, plainName, saysNothing } from "./document/field-words.ts";
export { secretsMentioned } from "./document/secret.ts";
export { jsonEquals } from "./json/canonical-json.ts";
export { copyJson } from "./json/copy-json.ts";
export { fromJsonText } from "./json/exact-json.ts";
export { setOwn, unescapeText } from "./json/json.ts";
export { type Place, placeKeys, visitTexts } from "./json/map-json.ts";
export { wordContinues } from "./notation/step-names.ts";
export { comparisonsIn } from "./reference/check-condition.ts";
export { escapeReferences, scanText } from "./reference/read-reference.ts";
export { checkAgainstSchema } from "./schema/compile-schema.ts";
export { toSegment } from "./schema/fit-texts.ts";
export { schemaAtPath } from "./schema/schema-paths.ts";
export { toArgumentProblem } from "./schema/validate-arguments.ts";
export {
  checkNoValues,
  foreignReference,
  isPlaceholder,
  isPlaceholderFor,
  type PlannedCall,
  type SaidHow,
} from "./validation/check-no-values.ts";
