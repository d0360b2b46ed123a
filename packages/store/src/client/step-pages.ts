/**
 * Pages of the steps and items of a plan, in plan order. A page is one read by the index of plan order, however far back it is and of
 * however many plans at once; with a filter by status, which no index holds, it looks at 10,000 units at most and costs two.
 */
import type { PlanId, StepStatus } from "@planwright/plan";
import type { Document } from "mongodb";
import { z } from "zod";
import type { Collections } from "../collections.ts";
import { fromCursorText, toCursorText } from "../cursor.ts";
import type { StepDocument } from "../documents.ts";
import { CursorInvalidError } from "../errors.ts";
import { stepDocumentId } from "../new-documents.ts";
import type { Page } from "./page.ts";
import type { PagedReads, StepFilter, StepPage } from "./paged-reads.ts";
import { listsById, readLists } from "./read-lists.ts";

/** Units that one page of a filter by status looks at, at most. */
const WINDOW = 10_000;
/** A step stands before its items: null comes before every number. */
const PLAN_ORDER = { position: 1, item: 1 };

const CursorSchema = z.tuple([z.number().int().min(0), z.number().int().min(0).nullable()]);

/** A place in plan order. */
type Place = Pick<StepDocument, "position" | "item">;

/** Opaque: where a page goes on after this unit. */
export function stepCursor({ position, item }: Place): string {
  return toCursorText([position, item]);
}

/** @throws {CursorInvalidError} also for one from the list of another step */
function placeOf({ after, filter = {} }: StepPage): Place | null {
  if (after === undefined) return null;
  const [position, item] = fromCursorText(CursorSchema, after);
  if (filter.position !== undefined && filter.position !== position) {
    throw new CursorInvalidError({ cursor: after.slice(0, 100) });
  }
  return { position, item };
}

/** The part of the store that reads steps in pages. @param window - units that a filter by status looks at, at most */
export function createStepPages(
  { steps }: Pick<Collections, "steps">,
  window = WINDOW,
): Pick<PagedReads, "listStepPages" | "countSteps" | "listStepStatuses"> {
  return {
    async listStepPages(tenant, planIds, page) {
      const { first, filter = {} } = page;
      const after = placeOf(page);
      const status = statusFilter(filter);
      const pipelines = (end: (match: Document) => Document[]) => (planId: PlanId) =>
        end(matchOf({ tenant, planId }, filter, after));
      const found = await readLists<StepDocument>(
        steps,
        "steps",
        planIds.map(
          pipelines((match) => [
            { $match: match },
            { $sort: PLAN_ORDER },
            ...(status ? [{ $limit: window }, { $match: status }] : []),
            { $limit: first + 1 },
          ]),
        ),
      );
      const lists = listsById(planIds, found, ({ planId }) => planId);
      // Where a filter left too few, more may stand behind what was looked at.
      const short = status ? planIds.filter((id) => (lists.get(id)?.length ?? 0) <= first) : [];
      const lasts = await readLists<StepDocument>(
        steps,
        "steps",
        short.map(
          pipelines((match) => [
            { $match: match },
            { $sort: PLAN_ORDER },
            { $skip: window - 1 },
            { $limit: 1 },
            { $project: { planId: 1, position: 1, item: 1 } },
          ]),
        ),
      );
      const lastOf = new Map(lasts.map((last) => [last.planId, last]));
      return new Map([...lists].map(([id, list]) => [id, pageOf(list, first, lastOf.get(id))]));
    },

    async countSteps(tenant, planIds, filter) {
      const counted = await steps
        .aggregate<{ _id: PlanId; count: number }>([
          {
            $match: { tenant, planId: { $in: [...planIds] }, ...unitFilter(filter), ...statusFilter(filter) },
          },
          { $group: { _id: "$planId", count: { $sum: 1 } } },
        ])
        .toArray();
      const counts = new Map(counted.map(({ _id, count }) => [_id, count]));
      return new Map(planIds.map((id) => [id, counts.get(id) ?? 0]));
    },

    async listStepStatuses(tenant, places) {
      const ids = places.map(({ planId, stepId }) => stepDocumentId(planId, stepId));
      const found = await steps
        .find(
          { _id: { $in: [...new Set(ids)] }, tenant },
          { projection: { status: 1 }, batchSize: ids.length },
        )
        .toArray();
      const statuses = new Map<string, StepStatus>(found.map(({ _id, status }) => [_id, status]));
      return ids.map((id) => statuses.get(id) ?? null);
    },
  };
}

/**
 * The same page of units that are at hand. Pure.
 * @param units - all of a plan, in plan order
 * @throws {CursorInvalidError}
 */
export function pageOfSteps(units: readonly StepDocument[], page: StepPage): Page<StepDocument> {
  const { first, filter = {} } = page;
  const after = placeOf(page);
  const isBehind = ({ position, item }: Place) =>
    after === null ||
    position > after.position ||
    (position === after.position && (item ?? -1) > (after.item ?? -1));
  return pageOf(
    units.filter((unit) => isBehind(unit) && isStepWanted(unit, filter)),
    first,
  );
}

/** True when a unit fits a filter. Pure. */
export function isStepWanted(unit: StepDocument, { status, position, items }: StepFilter): boolean {
  if (position !== undefined && unit.position !== position) return false;
  if (items !== undefined && (unit.item !== null) !== items) return false;
  return status === undefined || status.includes(unit.status);
}

/** @param last - the last one that was looked at, where there may be more behind it */
function pageOf(found: readonly StepDocument[], first: number, last?: Place): Page<StepDocument> {
  const items = found.slice(0, first);
  const lastItem = items.at(-1);
  if (found.length > first && lastItem) return { items, cursor: stepCursor(lastItem) };
  return { items, cursor: last ? stepCursor(last) : null };
}

/** The units wanted behind a place: as one or two ranges of the index, so that nothing before them is gone through. */
function matchOf(
  owner: { tenant: string; planId: PlanId },
  filter: StepFilter,
  after: Place | null,
): Document {
  const wanted = { ...owner, ...unitFilter(filter) };
  if (!after) return wanted;
  const { position, item } = after;
  const itemsBehind = { ...owner, position, item: item === null ? { $gte: 0 } : { $gt: item } };
  // Behind a step there is no other one at the same position.
  const stepsBehind = { ...wanted, position: { ...exactly(filter.position), $gt: position } };
  if (filter.items === false) return stepsBehind;
  return filter.position === undefined ? { $or: [itemsBehind, stepsBehind] } : itemsBehind;
}

function exactly(position: number | undefined): Document {
  return position === undefined ? {} : { $eq: position };
}

/** What the index of plan order holds. */
function unitFilter({ position, items }: StepFilter): Document {
  return {
    ...(position === undefined ? {} : { position }),
    ...(items === undefined ? {} : { item: items ? { $gte: 0 } : null }),
  };
}

function statusFilter({ status }: StepFilter): Document | undefined {
  return status && { status: { $in: [...status] } };
}
