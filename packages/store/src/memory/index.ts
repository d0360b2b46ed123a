export {
  createMemoryEntryLog,
  createMemoryStore,
  type MemoryStore,
  type MemoryStoreOptions,
} from "./create-memory-store.ts";
export {
  createMemoryDatabase,
  type DocumentChange,
  type GroupedWrite,
  type MemoryDatabase,
  type Reach,
  type ReachOperation,
  type StoredDocument,
  UnreachableError,
} from "./memory-database.ts";
