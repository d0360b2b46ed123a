export { createMemoryStore, type MemoryStore, type MemoryStoreOptions } from "./create-memory-store.ts";
export {
  createMemoryDatabase,
  type DocumentChange,
  type MemoryDatabase,
  type StoredDocument,
} from "./memory-database.ts";
export { createMemoryEntryLog } from "./memory-entry-log.ts";
export { type GroupedWrite, type Reach, type ReachOperation, UnreachableError } from "./reach.ts";
