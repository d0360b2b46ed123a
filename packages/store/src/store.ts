import type { createStore } from "./create-store.ts";
import type { ReadStore } from "./reads/reads.ts";
import type { AcceptanceStore } from "./requests/acceptance.ts";
import type { ChangeStore } from "./requests/change-store.ts";
import type { ControlStore } from "./requests/control-store.ts";

/** All operations of the store, with `ping` and `close`. */
export type Store = Awaited<ReturnType<typeof createStore>>;

/**
 * The operations that the API needs. Every read and write is bound to a tenant: another tenant's id looks
 * like an unknown one.
 */
export type ClientStore = AcceptanceStore & ControlStore & ChangeStore & ReadStore;

/** Reports changes of all processes. */
export type LiveStore = Pick<Store, "watchChanges" | "watchRequestsAtRest" | "readChanged">;

/** Removes old requests, so that the database does not grow for ever. */
export type RetentionStore = Pick<Store, "removeEnded">;
