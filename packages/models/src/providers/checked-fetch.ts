import { ModelEndpointWrongError } from "../model-errors.ts";
import { cleanText } from "../prompts/clean-text.ts";

/** Content types of pages and pictures, which no model's API answers with. */
const NO_API = /^(text\/(html|css|xml)|application\/(xhtml\+xml|xml|pdf)|image\/)/i;
/** Bytes of such an answer that are read. */
const MAX_READ = 4_096;
/** Characters of it that an error shows. */
const MAX_SHOWN = 80;

/**
 * `fetch` for a model's API that tells a page of another server, such as a proxy or a login, from an answer: libraries of providers
 * read a page as a stream without anything in it.
 * @throws {ModelEndpointWrongError} for an answer with a good status that is no answer of such an API
 */
export function createCheckedFetch(facts: { model: string; variable: string }): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const contentType = response.headers.get("content-type") ?? "";
    if (!response.ok || !NO_API.test(contentType)) return response;
    const url = shownUrl(response.url);
    const begins = firstWords(await beginningOf(response));
    const { status } = response;
    throw new ModelEndpointWrongError({
      ...facts,
      url,
      status,
      contentType: contentType.slice(0, 100),
      begins,
    });
  };
}

/** An address without what may be secret in it: no name and password, no query. */
export function shownUrl(text: string): string {
  if (!URL.canParse(text)) return "the base URL";
  const { origin, pathname } = new URL(text);
  return `${origin}${pathname === "/" ? "" : pathname}`.slice(0, 300);
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

/** What a person would read first on a page; long words, which may be tokens, are left out. */
function firstWords(page: string): string {
  const text = page.replace(/<(script|style)\b[^]*?(<\/\1>|$)/gi, " ").replace(/<[^>]*(>|$)/g, " ");
  return cleanText(text.replace(/\S{24,}/g, "…"), MAX_SHOWN);
}
