/**
 * The way back from an authorization server: a person who signs in at a tool server comes here in a browser, with a code
 * that an executor exchanges for tokens. Without the name of an open question (`state`, random) nothing happens.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { ClientStore } from "@planwright/store";
import type { RequestHandler } from "express";

/** Longest wait for an executor, in milliseconds, and how often the store is asked meanwhile. */
const WAIT_MS = 10_000;
const ASK_EVERY_MS = 200;
/** Longest code, issuer and reason that are stored, in characters. */
const MAX_CHARS = 4_096;
const STATE = /^[\w-]{43}$/;

/** Answers `GET /sign-in/callback` with a page for the person. */
export function serveSignInCallback(store: Pick<ClientStore, "answerSignIn" | "signIns">): RequestHandler {
  /** What has become of the sign-in at a server; undefined: no executor has read the answer. */
  async function endOf(server: string, state: string): Promise<{ error: string | null } | undefined> {
    const endsAt = performance.now() + WAIT_MS;
    while (performance.now() < endsAt) {
      const found = (await store.signIns()).find((one) => one.server === server);
      if (!found || found.asked?.state !== state) return { error: found?.error ?? null };
      await delay(ASK_EVERY_MS);
    }
    return undefined;
  }

  return async (request, response) => {
    const { state = "", code, iss, error, error_description: why } = textsOf(request.query);
    const send = (status: number, title: string, text: string): void =>
      void response.status(status).type("html").send(page(title, text));
    const given = code === undefined ? undefined : { code, iss: iss ?? null };
    const refused = error === undefined ? undefined : { refused: why ? `${error}: ${why}` : error };
    const answer = refused ?? given;
    const server = answer && STATE.test(state) ? await store.answerSignIn(state, answer) : null;
    if (server === null)
      return send(
        404,
        "This sign-in is not open",
        "It was answered already, or it is not one of this system. Tools in the console has the address of an open one.",
      );
    const end = await endOf(server, state);
    if (!end)
      return send(
        202,
        `No executor has signed in at ${server} yet`,
        "The answer is stored: the next executor that is alive signs in.",
      );
    if (end.error !== null)
      return send(409, `Not signed in at ${server}`, `${end.error}. Tools in the console has a new address.`);
    send(200, `Signed in at ${server}`, "Plans that waited for it go on. You can close this page.");
  };
}

/** The parameters that are given once, and are not too long. */
function textsOf(query: Record<string, unknown>): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(query).filter(
      (entry): entry is [string, string] => typeof entry[1] === "string" && entry[1].length <= MAX_CHARS,
    ),
  );
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text: string): string => text.replace(/[&<>"]/g, (char) => ESCAPES[char] ?? char);

function page(title: string, text: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)} - Planwright</title>
<h1>${escaped(title)}</h1>
<p>${escaped(text)}</p>
</html>
`;
}
