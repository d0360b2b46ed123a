import type { Context } from "graphql-ws";
import { CloseCode } from "graphql-ws";
import type { Extra } from "graphql-ws/use/ws";
import { type Presented, presentedBy } from "../access/authenticate.ts";
import type { Gate } from "../access/gate.ts";
import { UnauthenticatedError } from "../errors/access-errors.ts";

/** One connection of a client. */
export type Connection = Context<Record<string, unknown> | undefined, Extra>;

/** Close code of WebSocket: the service cannot serve the connection now. */
const TRY_AGAIN_LATER = 1013;

/**
 * The credential of a WebSocket client: the header of its first request, or `authorization` in the
 * `connectionParams`, because pages cannot set headers.
 */
export function presentedByConnection({ extra, connectionParams }: Connection): Presented {
  const presented = presentedBy(extra.request);
  const params = new Map(
    Object.entries(connectionParams ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const authorization = presented.authorization ?? params.get("authorization");
  return {
    ...presented,
    // A value that is not text is an invalid credential, not a missing one.
    authorization: authorization === undefined || typeof authorization === "string" ? authorization : "",
  };
}

/**
 * True for a known caller; otherwise the connection is closed with 4401 and the code of the error, or with 1013
 * when its tenant has as many as it may have.
 * @param admit - counts a connection of a tenant; false: it gets no further one
 */
export async function acceptConnection(
  gate: Pick<Gate, "recognize">,
  connection: Connection,
  admit: (tenant: string, socket: Connection["extra"]["socket"]) => Promise<boolean>,
): Promise<boolean> {
  const { socket } = connection.extra;
  try {
    const { tenant } = await gate.recognize(presentedByConnection(connection));
    if (await admit(tenant, socket)) return true;
    socket.close(TRY_AGAIN_LATER, "OVERLOADED: your tenant has no connection left (max-connections)");
    return false;
  } catch (error) {
    const isRefused = error instanceof UnauthenticatedError;
    socket.close(
      isRefused ? CloseCode.Unauthorized : TRY_AGAIN_LATER,
      isRefused ? `${error.code}: ${error.message}` : "UNAVAILABLE: try again later",
    );
    return false;
  }
}
