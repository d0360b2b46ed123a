import { wordsOfName } from "./no-value.ts";

/**
 * Texts that models write without a value. Only short texts are checked, so the patterns cost almost nothing.
 */
const PLACEHOLDERS: readonly RegExp[] = [
  /^<[a-z][a-z0-9_. -]*>$/i, // <author_id>
  /^\[[a-z]+(?:[_ -][a-z0-9]+)+\]$/i, // [author_id], [INSERT NAME]
  /^\{[a-z][a-z0-9_.-]*\}$/i, // {author_id}
  /^\$\{[a-z][a-z0-9_.-]*\}$/i, // ${author_id}
  /^(?:YOUR|MY|INSERT|ENTER|REPLACE|FILL)(?:[_-][A-Z0-9]+)+$/, // YOUR_API_KEY
  /^your[_-](?:[a-z0-9]+[_-])*(?:id|key|token|secret|name|email|url|value|password)$/i,
  /^[a-z0-9_]*_?placeholder_?[a-z0-9_]*$/i,
  /^[a-z0-9_]+_(?:goes_)?here$/i, // author_id_here
  /^(?:to be (?:determined|filled|provided|extracted)|fill[ _]?(?:me[ _])?in|insert[ _]here|replace[ _]me|change[ _]?me)$/i,
  /^(?:extracted|extracted_from_[a-z0-9_]+|extracted from (?:the )?(?:query|request|input|message|step|output|text)|todo|tbd|tbc|fixme|x{3,}|\?{2,})$/i,
  /^(?:id|result|output|value|response)[ _](?:of|from)[ _](?:the[ _])?(?:previous[ _])?(?:step|tool|call)[ _0-9a-z]*$/i,
  /^(?:(?:bearer|basic) )?\[redacted\]$/i, // models see this text instead of a secret
];
const MAX_LENGTH = 100;

/** Placeholders in the place of a required value; elsewhere such a text may be meant. */
const IN_PLACE_OF_VALUE: readonly RegExp[] = [
  /^extracted[_-][a-z0-9_-]+$/i, // extracted_email
  /^[a-z0-9]+(?:_[a-z0-9]+){0,8}_from_(?:the_)?(?:query|request|prompt|input|message|conversation|context|user|(?:previous_|last_)?(?:step|tool|output|result)(?:_?[0-9]+)?)$/i, // email_from_query
];
/** [email], extracted email, %email%, __email__: placeholders when the words are about the parameter. */
const AROUND_WORDS: readonly RegExp[] = [
  /^\[([a-z][a-z0-9 _-]*)\]$/i,
  /^extracted ([a-z][a-z0-9 _-]*)$/i,
  /^(?:%|__|\*|#)([a-z][a-z0-9 _-]*?)(?:%|__|\*|#)$/i,
];
const VALUE_WORDS = new Set(
  "email mail name id title date time url link phone address value text content message token key number amount description subject body city location recipient".split(
    " ",
  ),
);

/**
 * True for a text that replaces the value of a required parameter, whatever its format: `extracted_email` and
 * `email_from_query` anywhere, `[email]` where it is about the parameter or names a usual one.
 */
export function isPlaceholderFor(text: string, parameter: string): boolean {
  const trimmed = text.trim();
  if (trimmed.length > MAX_LENGTH) return false;
  if (IN_PLACE_OF_VALUE.some((pattern) => pattern.test(trimmed))) return true;
  const own = new Set(wordsOfName(parameter));
  return AROUND_WORDS.some((pattern) => {
    const words = wordsOfName(pattern.exec(trimmed)?.[1] ?? "");
    return words.length > 0 && words.every((word) => own.has(word) || VALUE_WORDS.has(word));
  });
}

/** True for a text that replaces a missing value: `<author_id>`, `YOUR_API_KEY`, `extracted`. */
export function isPlaceholder(text: string): boolean {
  const trimmed = text.trim();
  return (
    trimmed !== "" && trimmed.length <= MAX_LENGTH && PLACEHOLDERS.some((pattern) => pattern.test(trimmed))
  );
}

/**
 * The reference that a text means in the style of other languages: `${step.field}`, `{step.field}`,
 * `$step.field`, `<step.field>`.
 * @returns root and path text, such as `createAuthor` and `._id`
 */
export function foreignReference(text: string): { root: string; path: string } | undefined {
  if (text.length > MAX_LENGTH * 2) return undefined;
  const match = /^\s*(?:\$\{([^{}]+)\}|\{([^{}]+)\}|<([^<>]+)>|\$([A-Za-z][^\s$]*))\s*$/.exec(text);
  const inner = (match?.[1] ?? match?.[2] ?? match?.[3] ?? match?.[4])?.trim();
  const parts =
    inner === undefined ? null : /^([A-Za-z_][A-Za-z0-9_/-]*)((?:\.[\w-]+|\[\d+\])*)$/.exec(inner);
  return parts?.[1] === undefined ? undefined : { root: parts[1], path: parts[2] ?? "" };
}
