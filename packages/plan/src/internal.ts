/**
 * Parts of the language that packages/reading is built from. They may change with it at any time: other packages
 * import the public names.
 */

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
export { wordContinues } from "./dialect/step-names.ts";
export { cut, DiagnosticCollector, wordsOf } from "./document/diagnostic.ts";
export { isAgainstRunning, looksLikeEffect, plainName, saysNothing } from "./document/field-words.ts";
export { secretsMentioned } from "./document/secret.ts";
export { copyJson } from "./json/copy-json.ts";
export { fromJsonText, jsonEquals } from "./json/exact-json.ts";
export { type Place, placeKeys, setOwn, unescapeText, visitTexts } from "./json/json.ts";
export { comparisonsIn } from "./reference/condition.ts";
export { escapeReferences, scanText } from "./reference/read-reference.ts";
export { checkAgainstSchema } from "./schema/compile-schema.ts";
export { toSegment } from "./schema/fit-texts.ts";
export { schemaAtPath } from "./schema/schema-types.ts";
export { toArgumentProblem } from "./schema/validate-arguments.ts";
export {
  checkNoValues,
  foreignReference,
  isPlaceholder,
  isPlaceholderFor,
  type PlannedCall,
  type SaidHow,
} from "./validation/check-no-values.ts";
