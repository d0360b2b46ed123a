/** Pages of the steps and items of a plan, in plan order, folded from the journal of its request. */
import {
  type PlacedUnit,
  type PlanState,
  type StepRun,
  toStepRun,
  unitsInOrder,
  waitedForPeopleMs,
} from "@planwright/engine";
import type { PlanId, StepStatus } from "@planwright/plan";
import { z } from "zod";
import type { UnitReads } from "../journal/unit-reads.ts";
import { CursorInvalidError } from "../records/errors.ts";
import {
  type DiagnosedUnits,
  fromCursorText,
  type Page,
  pageOf,
  type StepFilter,
  type StepPage,
  toCursorText,
} from "./record-pages.ts";

const CursorSchema = z.tuple([z.number().int().min(0), z.number().int().min(0).nullable()]);

/** A position in plan order. */
type StepPosition = Pick<StepRun, "position" | "item">;

/** The cursor after this unit. */
export function stepCursor({ position, item }: StepPosition): string {
  return toCursorText([position, item]);
}

/** @throws {CursorInvalidError} also for a cursor of the list of another step */
function positionAfter({ after, filter = {} }: StepPage): StepPosition | null {
  if (after === undefined) return null;
  const [position, item] = fromCursorText(CursorSchema, after);
  if (filter.position !== undefined && filter.position !== position) {
    throw new CursorInvalidError({ cursor: after.slice(0, 100) });
  }
  return { position, item };
}

/** Statuses of items that a diagnosis names or counts one by one. */
const NAMED_STATUSES: readonly StepStatus[] = [
  "FAILED",
  "IN_DOUBT",
  "RUNNING",
  "RETRYING",
  "WAITING_APPROVAL",
];
/** Maximum number of items of these statuses, and of each other status, that are selected for a diagnosis. */
const MAX_NAMED_ITEMS = 1_000;
const MAX_OTHER_ITEMS = 100;

/** The units of a plan, given in plan order, that a diagnosis may name, whatever their number. Pure. */
export function diagnosedUnits<Unit extends Pick<StepRun, "stepId" | "item" | "status">>(
  units: Iterable<Unit>,
): DiagnosedUnits<Unit> {
  const selected: Unit[] = [];
  const itemCounts: DiagnosedUnits<Unit>["itemCounts"] = new Map();
  const taken = new Map<StepStatus | "named", number>();
  for (const unit of units) {
    const { stepId, item, status } = unit;
    if (item !== null) {
      const counts = itemCounts.get(stepId) ?? {};
      counts[status] = (counts[status] ?? 0) + 1;
      itemCounts.set(stepId, counts);
      const isNamed = NAMED_STATUSES.includes(status);
      const kind = isNamed ? "named" : status;
      const count = taken.get(kind) ?? 0;
      if (count >= (isNamed ? MAX_NAMED_ITEMS : MAX_OTHER_ITEMS)) continue;
      taken.set(kind, count + 1);
    }
    selected.push(unit);
  }
  return { units: selected, itemCounts };
}

/** The part of the store that reads steps in pages. */
export function createStepPages(unitReads: UnitReads) {
  /** Something of the units of each plan; of an unknown plan there are none. */
  async function ofEach<Of>(
    tenant: string,
    planIds: readonly PlanId[],
    of: (read: PlanState | undefined) => Of,
  ): Promise<Map<PlanId, Of>> {
    const read = planIds.map(async (id) => [id, of(await unitReads.ofPlan(tenant, id))] as const);
    return new Map(await Promise.all(read));
  }

  return {
    /** Steps and items in plan order. */
    listStepPages: async (tenant: string, planIds: readonly PlanId[], page: StepPage) =>
      ofEach(tenant, planIds, (read) => pageOfUnits(read, page)),

    /** The units that a diagnosis may name; none of an unknown plan. */
    async listDiagnosedUnits(tenant: string, planId: PlanId): Promise<DiagnosedUnits<StepRun>> {
      const read = await unitReads.ofPlan(tenant, planId);
      if (!read) return { units: [], itemCounts: new Map() };
      const { units, itemCounts } = diagnosedUnits(unitsWithStatus(read));
      return { units: units.map(({ one }) => toStepRun(read.outline, one)), itemCounts };
    },

    /**
     * How long a plan waited only for people until `at`, or its end, in milliseconds; 0 for an unknown plan.
     */
    async waitedForPeopleMs(tenant: string, planId: PlanId, at: Date) {
      const read = await unitReads.ofPlan(tenant, planId);
      return read?.plan ? waitedForPeopleMs(read.plan, at) : 0;
    },

    /** Number of steps and items that match. */
    countSteps: (tenant: string, planIds: readonly PlanId[], filter: StepFilter) =>
      ofEach(tenant, planIds, (read) => {
        let count = 0;
        for (const placed of read ? unitsInOrder(read) : [])
          if (isStepWanted(statusOf(placed), filter)) count += 1;
        return count;
      }),

    /** Statuses of steps, in the order of the argument; null for unknown ones. */
    listStepStatuses: (tenant: string, steps: readonly Pick<StepRun, "planId" | "stepId">[]) =>
      Promise.all(
        steps.map(async ({ planId, stepId }) => {
          const read = await unitReads.ofPlan(tenant, planId);
          if (!read?.outline.steps.some(({ id }) => id === stepId)) return null;
          return read.plan?.units.get(stepId)?.status ?? "PENDING";
        }),
      ),
  };
}

function pageOfUnits(read: PlanState | undefined, page: StepPage): Page<StepRun> {
  const isWanted = wantedBy(page);
  const found: StepRun[] = [];
  if (!read) return { items: found, cursor: null };
  for (const placed of unitsInOrder(read)) {
    if (!isWanted(statusOf(placed))) continue;
    found.push(toStepRun(read.outline, placed));
    if (found.length > page.first) break;
  }
  return pageOf(found, page.first, stepCursor);
}

function* unitsWithStatus(state: PlanState) {
  for (const one of unitsInOrder(state)) {
    const { step, item, unit } = one;
    yield { stepId: step.id, item, status: unit?.status ?? ("PENDING" as const), one };
  }
}

function statusOf({ position, item, unit }: PlacedUnit): Pick<StepRun, "position" | "item" | "status"> {
  return { position, item, status: unit?.status ?? "PENDING" };
}

/** Selects the units of a page and of later pages. @throws {CursorInvalidError} */
function wantedBy(page: StepPage): (unit: Pick<StepRun, "position" | "item" | "status">) => boolean {
  const { filter = {} } = page;
  const after = positionAfter(page);
  const isAfter = ({ position, item }: StepPosition) =>
    after === null ||
    position > after.position ||
    (position === after.position && (item ?? -1) > (after.item ?? -1));
  return (unit) => isAfter(unit) && isStepWanted(unit, filter);
}

/** The same page, from all units of a plan in memory, in plan order. Pure. @throws {CursorInvalidError} */
export function pageOfSteps<Unit extends StepRun>(units: readonly Unit[], page: StepPage): Page<Unit> {
  return pageOf(units.filter(wantedBy(page)), page.first, stepCursor);
}

/** True when a unit matches a filter. Pure. */
export function isStepWanted(
  unit: Pick<StepRun, "position" | "item" | "status">,
  { status, position, items, item }: StepFilter,
): boolean {
  if (position !== undefined && unit.position !== position) return false;
  if (item !== undefined && unit.item !== item) return false;
  if (items !== undefined && (unit.item !== null) !== items) return false;
  return status === undefined || status.includes(unit.status);
}
