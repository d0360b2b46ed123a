export type { GroupedWrite } from "../journal/pending-write.ts";
export {
  createMemoryEntryLog,
  createMemoryStore,
  type MemoryStore,
  type MemoryStoreOptions,
} from "./create-memory-store.ts";
export {
  createMemoryDatabase,
  type DocumentChange,
  type MemoryDatabase,
  type Reach,
  type ReachOperation,
  type StoredDocument,
  UnreachableError,
} from "./memory-database.ts";
