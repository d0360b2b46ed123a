import type { StepRun } from "@planwright/engine";
import type { PlanId, RequestId, StepStatus } from "@planwright/plan";
import {
  type ClientStore,
  type EventHead,
  isStepWanted,
  type ListPage,
  type ModelCallHead,
  type Page,
  type PlanHead,
  pageOfSteps,
  type StepFilter,
  type StepPage,
} from "@planwright/store";
import DataLoader from "dataloader";
import type { AnswerBytes } from "../load/answer-bytes.ts";

/** Reads of pages in one operation. Pages of several plans or requests with equal arguments are one read. */
export interface PageReads {
  /** Steps and items in plan order. @throws {CursorInvalidError} */
  stepPage(planId: PlanId, page: StepPage): Promise<Page<StepRun>>;
  /** Number of steps and items that match. */
  stepCount(planId: PlanId, filter: StepFilter): Promise<number>;
  /** Status of a step; null for an unknown one. */
  stepStatus(planId: PlanId, stepId: string): Promise<StepStatus | null>;
  /** Versions, newest first. @throws {CursorInvalidError} */
  planPage(requestId: RequestId, page: ListPage): Promise<Page<PlanHead>>;
  /** Oldest first. @throws {CursorInvalidError} */
  modelCallPage(requestId: RequestId, page: ListPage): Promise<Page<ModelCallHead>>;
  /** Events in the order of the journal. @throws {CursorInvalidError} */
  eventPage(requestId: RequestId, page: ListPage): Promise<Page<EventHead>>;
  /** Uses these steps for pages of this plan; they must be all its steps, in plan order. */
  primeSteps: (planId: PlanId, steps: readonly StepRun[]) => void;
  /** Clears the cache. */
  forgetPages: () => void;
}

/** Most plans or requests in one read. */
const MAX_LISTS = 100;
/** Estimated size of a head of a step, version, call or event, in bytes. */
const HEAD_BYTES = 640;

/** New reads with an empty cache, for one operation. */
export function createPageReads(store: ClientStore, tenant: string, bytes: AnswerBytes): PageReads {
  /** Loads one page of each of several lists. Their estimated size is counted before the read. */
  function pagesOf<Id extends string, Part extends ListPage, Item>(
    read: (ids: readonly Id[], page: Part) => Promise<ReadonlyMap<Id, Page<Item>>>,
  ) {
    return loaderOf<Id, Part, Page<Item>>(
      async (ids, page) => {
        await bytes.reading(ids.length * page.first * HEAD_BYTES);
        return read(ids, page);
      },
      { items: [], cursor: null },
    );
  }

  const primed = new Map<PlanId, readonly StepRun[]>();
  const pages = pagesOf((ids: readonly PlanId[], page: StepPage) => store.listStepPages(tenant, ids, page));
  const counts = loaderOf<PlanId, StepFilter, number>(
    (ids, filter) => store.countSteps(tenant, ids, filter),
    0,
  );
  const plans = pagesOf((ids: readonly RequestId[], page: ListPage) =>
    store.listPlanPages(tenant, ids, page),
  );
  const modelCalls = pagesOf((ids: readonly RequestId[], page: ListPage) =>
    store.listModelCallPages(tenant, ids, page),
  );
  const events = pagesOf((ids: readonly RequestId[], page: ListPage) =>
    store.listEventPages(tenant, ids, page),
  );
  type StepName = Pick<StepRun, "planId" | "stepId">;
  const statuses = new DataLoader<StepName, StepStatus | null, string>(
    (names) => store.listStepStatuses(tenant, names),
    { cacheKeyFn: ({ planId, stepId }) => `${planId}/${stepId}` },
  );

  function primeStatuses(steps: readonly StepRun[]): void {
    for (const step of steps) if (step.item === null) statuses.prime(step, step.status);
  }

  return {
    async stepPage(planId, page) {
      const units = primed.get(planId);
      if (units) return pageOfSteps(units, page);
      const found = await pages.load({ id: planId, part: page });
      primeStatuses(found.items);
      return found;
    },
    async stepCount(planId, filter) {
      const units = primed.get(planId);
      if (units) return units.filter((unit) => isStepWanted(unit, filter)).length;
      return counts.load({ id: planId, part: filter });
    },
    stepStatus: (planId, stepId) => statuses.load({ planId, stepId }),
    planPage: (id, part) => plans.load({ id, part }),
    modelCallPage: (id, part) => modelCalls.load({ id, part }),
    eventPage: (id, part) => events.load({ id, part }),
    primeSteps(planId, steps) {
      primed.set(planId, steps);
      primeStatuses(steps);
    },
    forgetPages() {
      primed.clear();
      for (const loader of [pages, counts, plans, modelCalls, events, statuses]) loader.clearAll();
    },
  };
}

/** A part of the data of an id. */
interface Key<Id, Part> {
  id: Id;
  part: Part;
}

/** A loader that reads the same part of several ids in one read. */
function loaderOf<Id extends string, Part extends object, T>(
  read: (ids: readonly Id[], part: Part) => Promise<ReadonlyMap<Id, T>>,
  none: T,
): DataLoader<Key<Id, Part>, T, string> {
  return new DataLoader<Key<Id, Part>, T, string>(
    async (keys) => {
      const groups = new Map<string, { part: Part; ids: Id[] }>();
      for (const { id, part } of keys) {
        const name = JSON.stringify(part);
        const group = groups.get(name) ?? { part, ids: [] };
        groups.set(name, group);
        group.ids.push(id);
      }
      const found = new Map(
        await Promise.all(
          [...groups].map(async ([name, { part, ids }]) => [name, await read(ids, part)] as const),
        ),
      );
      return keys.map(({ id, part }) => found.get(JSON.stringify(part))?.get(id) ?? none);
    },
    { cacheKeyFn: ({ id, part }) => JSON.stringify([id, part]), maxBatchSize: MAX_LISTS },
  );
}
