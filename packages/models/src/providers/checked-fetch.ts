import { ModelError } from "../draft/draft-error.ts";
import { cleanText } from "../prompts/clean-text.ts";

/** Content types of pages and images, which are never answers of a model's API. */
const NO_API = /^(text\/(html|css|xml)|application\/(xhtml\+xml|xml|pdf)|image\/)/i;
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i;
/** Maximum of bytes that are read of such an answer. */
const MAX_READ = 4_096;
/** Maximum of characters of it that an error shows. */
const MAX_SHOWN = 80;

/** The API that is expected. */
interface ExpectedApi {
  /** "provider:model". */
  model: string;
  /** The setting that holds the base URL. */
  variable: string;
  /** A JSON answer of the protocol is a list or has one of these fields. */
  answerFields: readonly string[];
}

/**
 * `fetch` for a model's API. It refuses a page or a JSON document of another server, such as a proxy or a
 * login, which the libraries of providers would read as an empty stream.
 * @throws {ModelError} with MODEL_ENDPOINT_WRONG for a successful response of another server
 * @throws {NotConnectedError} when the server took no connection in time
 */
export function createCheckedFetch({ answerFields, ...facts }: ExpectedApi): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init).catch((error: unknown) => {
      throw isConnectTimeout(error) ? new NotConnectedError() : error;
    });
    const contentType = response.headers.get("content-type") ?? "";
    if (!response.ok) return response;
    const page = NO_API.test(contentType)
      ? await beginningOf(response)
      : JSON_TYPE.test(contentType)
        ? await otherDocument(response.clone(), answerFields)
        : undefined;
    if (page === undefined) return response;
    const url = shownUrl(response.url);
    const begins = firstWords(page);
    const { status } = response;
    throw new ModelError("MODEL_ENDPOINT_WRONG", {
      ...facts,
      url,
      status,
      contentType: contentType.slice(0, 100),
      begins,
    });
  };
}

/**
 * Nothing was sent, because no connection was made in time. The libraries of providers take an error or a cause
 * that speaks of a timeout for a call without an answer in time, and drop it: so this one has other words.
 */
class NotConnectedError extends TypeError {
  readonly code = CONNECT_TIMEOUT;
  constructor() {
    super("the server takes no connection");
  }
}

/** The code of `fetch` for a connection that was not made in time. */
export const CONNECT_TIMEOUT = "UND_ERR_CONNECT_TIMEOUT";

function isConnectTimeout(error: unknown): boolean {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  if (!(cause instanceof Error) || !("code" in cause)) return false;
  // The operating system gave up first: for one address, or for each of several.
  const isConnecting = cause instanceof AggregateError || ("syscall" in cause && cause.syscall === "connect");
  return cause.code === CONNECT_TIMEOUT || (cause.code === "ETIMEDOUT" && isConnecting);
}

/** A URL without the parts that may be secret: name, password and query. */
export function shownUrl(text: string): string {
  if (!URL.canParse(text)) return "the base URL";
  const { origin, pathname } = new URL(text);
  return `${origin}${pathname === "/" ? "" : pathname}`.slice(0, 300);
}

/**
 * The field names of a JSON document that is not a model's answer. Undefined for an answer, a list, and text
 * that is not JSON.
 */
async function otherDocument(
  response: Response,
  answerFields: readonly string[],
): Promise<string | undefined> {
  let document: unknown;
  try {
    document = JSON.parse(await response.text());
  } catch {
    return undefined; // a cut answer is reported by the provider's library
  }
  if (Array.isArray(document)) return undefined;
  const names = typeof document === "object" && document !== null ? Object.keys(document) : [];
  if (names.some((name) => answerFields.includes(name))) return undefined;
  return `{ ${names.join(", ")} }`.slice(0, MAX_READ);
}

async function beginningOf(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (!reader) return "";
  const parts: Uint8Array[] = [];
  let size = 0;
  for (let part = await reader.read(); !part.done && size < MAX_READ; part = await reader.read()) {
    parts.push(part.value);
    size += part.value.length;
  }
  await reader.cancel();
  return Buffer.concat(parts).subarray(0, MAX_READ).toString("utf8");
}

/** The first visible text of a page, without long words, which may be tokens. */
function firstWords(page: string): string {
  const text = page.replace(/<(script|style)\b[^]*?(<\/\1>|$)/gi, " ").replace(/<[^>]*(>|$)/g, " ");
  return cleanText(text.replace(/\S{24,}/g, "…"), MAX_SHOWN);
}
