/**
 * `fetch` for a server whose errors are flat, `{"object": "error", "message": ...}`. OpenAI's library reads
 * only `{"error": {...}}` and would lose the message, which says which part of a request is refused. The body
 * becomes that message; successful answers are not changed.
 */
export function wrapErrors(fetchApi: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await fetchApi(input, init);
    if (response.ok) return response;
    const text = await response.text();
    const { status, statusText } = response;
    const headers = new Headers(response.headers);
    headers.delete("content-length");
    headers.delete("content-encoding");
    return new Response(JSON.stringify({ error: { message: text.slice(0, MAX_MESSAGE) } }), {
      status,
      statusText,
      headers,
    });
  };
}

/** Characters of an error's body that are kept. */
const MAX_MESSAGE = 2_000;
