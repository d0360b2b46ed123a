import type { Context } from "graphql-ws";
import { CloseCode } from "graphql-ws";
import type { Extra } from "graphql-ws/use/ws";
import { type Presented, presentedBy } from "../access/authenticate.ts";
import type { Gate } from "../access/gate.ts";
import { UnauthenticatedError } from "../errors/api-errors.ts";

/** One connection of a client. */
export type Connection = Context<Record<string, unknown> | undefined, Extra>;

/** Closing codes of WebSocket, RFC 6455: the service cannot serve this now. */
const TRY_AGAIN_LATER = 1013;

/**
 * What a client brings over WebSocket: the header of its first request, or, as pages can set none, `authorization` among
 * the `connectionParams`.
 */
export function presentedByConnection({ extra, connectionParams }: Connection): Presented {
  const presented = presentedBy(extra.request);
  const params = new Map(
    Object.entries(connectionParams ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const authorization = presented.authorization ?? params.get("authorization");
  return {
    ...presented,
    // What is no text is no credential, and is not taken for none.
    authorization: authorization === undefined || typeof authorization === "string" ? authorization : "",
  };
}

/** Whether a connection may be used; one that may not is closed with 4401 and the code of the error. */
export async function acceptConnection(
  gate: Pick<Gate, "recognize">,
  connection: Connection,
): Promise<boolean> {
  try {
    await gate.recognize(presentedByConnection(connection));
    return true;
  } catch (error) {
    const isRefused = error instanceof UnauthenticatedError;
    connection.extra.socket.close(
      isRefused ? CloseCode.Unauthorized : TRY_AGAIN_LATER,
      isRefused ? `${error.code}: ${error.message}` : "UNAVAILABLE: try again later",
    );
    return false;
  }
}
