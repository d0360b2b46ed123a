export {
  createMemoryEntryLog,
  createMemoryStore,
  type GroupedWrite,
  type MemoryStore,
  type MemoryStoreOptions,
  type Reach,
  type ReachOperation,
  UnreachableError,
} from "./create-memory-store.ts";
export {
  createMemoryDatabase,
  type DocumentChange,
  type MemoryDatabase,
  type StoredDocument,
} from "./memory-database.ts";
