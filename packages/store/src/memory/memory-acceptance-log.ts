import type { AcceptanceLog, Accepted } from "../acceptance/acceptance-log.ts";
import type { RequestDocument } from "../records/request-document.ts";
import type { MemoryDatabase, StoredDocument } from "./memory-database.ts";
import type { Reach } from "./reach.ts";

/**
 * Accepted work in a database in memory, over the connection of one process. Requests and plans are sent
 * separately, so that a process may die in between. With MongoDB this needs the death of the server too.
 */
export function createMemoryAcceptanceLog(database: MemoryDatabase, reach: Reach): AcceptanceLog {
  function insertUnlessThere(collection: string, document: StoredDocument): void {
    if (database.find(collection, { _id: document._id }).length === 0) database.insert(collection, document);
  }

  async function insertPlans(accepted: readonly Accepted[]): Promise<void> {
    const plans = accepted.flatMap(({ plan }) => plan ?? []);
    if (plans.length === 0) return;
    await reach({
      name: "plans.insert",
      apply: () => {
        for (const plan of plans) insertUnlessThere("plans", plan);
      },
    });
  }

  /** True when another request of the tenant has the key. */
  function isTaken({ _id, tenant, idempotency }: RequestDocument): boolean {
    const key = idempotency?.key;
    return database.find("requests", { tenant, "idempotency.key": key }).some((other) => other._id !== _id);
  }

  return {
    async insert(accepted) {
      await reach({
        name: "requests.insert",
        apply: () => {
          for (const { request } of accepted) insertUnlessThere("requests", request);
        },
      });
      await insertPlans(accepted);
    },
    async insertKeyed(accepted) {
      const { request } = accepted;
      const isStored = await reach({
        name: "requests.insert",
        apply: () => {
          if (isTaken(request)) return false;
          insertUnlessThere("requests", request);
          return true;
        },
      });
      if (isStored) await insertPlans([accepted]);
      return isStored;
    },
  };
}
