import type { Client } from "@planwright/client";
import { createContext, useContext } from "react";

/** The context of the client with which the page calls the API. */
export const ClientContext = createContext<Client | null>(null);

/** The client of the page. */
export function useClient(): Client {
  const client = useContext(ClientContext);
  if (!client) throw new TypeError("useClient is called outside of ClientContext");
  return client;
}
