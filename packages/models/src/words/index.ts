export { PREPOSITIONS } from "./function-words.ts";
export {
  isContent,
  isDated,
  isFreeText,
  isLongText,
  isNumeric,
  isTitle,
  linkedNoun,
  type Parameter,
} from "./parameter.ts";
export {
  CONTENT_NAMES,
  IDENTITY_NAMES,
  NAME_NAMES,
  QUERY_NAMES,
  TITLE_NAMES,
} from "./parameter-names.ts";
export { type ToolWords, toolWordsOf } from "./tool-words.ts";
export {
  isKnownVerb,
  isMakingVerb,
  isReadingVerb,
  takesFor,
  verbFit,
} from "./verbs.ts";
export {
  isPlural,
  sharesRoot,
  splitName,
  stem,
  wordsOf,
} from "./word-forms.ts";
