import type { AcceptanceStore } from "./acceptance/acceptance-store.ts";
import type { AccessStore } from "./access/access-store.ts";
import type { TenantStore } from "./access/tenant-store.ts";
import type { ChangeStore } from "./changes/change-store.ts";
import type { ControlStore } from "./controls/control-store.ts";
import type { ExecutionStore } from "./execution/execution-store.ts";
import type { LiveStore } from "./live/live-store.ts";
import type { ContractAskStore, PlanningStore } from "./planning/planning-store.ts";
import type { ReadStore } from "./reads/read-store.ts";
import type { RetentionStore } from "./retention/remove-ended.ts";
import type { WorkerStore } from "./workers/worker-store.ts";

/**
 * The operations that the API needs. Every read and write is bound to a tenant: another tenant's id looks
 * like an unknown one.
 */
export interface ClientStore extends AcceptanceStore, ControlStore, ChangeStore, ReadStore {}

/** All operations of the store, with `ping` and `close`. */
export interface Store
  extends ClientStore,
    PlanningStore,
    ContractAskStore,
    ExecutionStore,
    LiveStore,
    AccessStore,
    TenantStore,
    RetentionStore,
    WorkerStore {
  /** Resolves when MongoDB answers. @throws {StoreUnavailableError} */
  ping(): Promise<void>;
  close(): Promise<void>;
}
