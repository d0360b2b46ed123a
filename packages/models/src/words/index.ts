export {
  CONTENT_NAMES,
  IDENTITY_NAMES,
  isContent,
  isDated,
  isFreeText,
  isLongText,
  isNumeric,
  isTitle,
  linkedNoun,
  NAME_NAMES,
  type Parameter,
  QUERY_NAMES,
  TITLE_NAMES,
} from "./parameter.ts";
export { type ToolWords, toolWordsOf } from "./tool-words.ts";
export {
  isKnownVerb,
  isMakingVerb,
  isPlural,
  isReadingVerb,
  PREPOSITIONS,
  sharesRoot,
  splitName,
  stem,
  takesFor,
  verbFit,
  wordsOf,
} from "./word-forms.ts";
