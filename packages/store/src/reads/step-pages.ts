/** Pages of the steps and items of a plan, in plan order, folded from the journal of its request. */
import { type PlacedUnit, type PlanState, type StepRun, toStepRun, unitsInOrder } from "@planwright/engine";
import type { StepStatus } from "@planwright/plan";
import { z } from "zod";
import { CursorInvalidError } from "../records/errors.ts";
import { fromCursorText, type ListPage, type Page, pageOf, toCursorText } from "./record-pages.ts";

/** A filter of steps and items of a plan. All given fields have to match. */
export interface StepFilter {
  status?: readonly StepStatus[] | undefined;
  /** Position of a step in the plan, from 0: selects the step and its items. */
  position?: number | undefined;
  /** True: only items of forEach steps; false: only steps. */
  items?: boolean | undefined;
  /** This item of a forEach step, from 0; null: the step itself. */
  item?: number | null | undefined;
}

/** A page of the steps and items of a plan. */
export interface StepPage extends ListPage {
  filter?: StepFilter | undefined;
}

/** The units of a plan that a diagnosis may name. */
export interface DiagnosedUnits<Unit> {
  /** In plan order: all steps, up to 1,000 items that failed or are open, and some of the others. */
  units: Unit[];
  /** Numbers of all items by their status, for each list. */
  itemCounts: Map<string, { [status in StepStatus]?: number }>;
}

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

/** The same of a plan with its folded units. Pure. */
export function diagnosedUnitsOf(state: PlanState): DiagnosedUnits<StepRun> {
  const placed = [...unitsInOrder(state)].map((one) => ({ ...statusOf(one), stepId: one.step.id, one }));
  const { units, itemCounts } = diagnosedUnits(placed);
  return { units: units.map(({ one }) => toStepRun(state.outline, one)), itemCounts };
}

/** Number of steps and items that match. Pure. */
export function countUnits(state: PlanState, filter: StepFilter): number {
  let count = 0;
  for (const placed of unitsInOrder(state)) if (isStepWanted(statusOf(placed), filter)) count += 1;
  return count;
}

/** A page of the steps and items of a plan, in plan order. Pure. @throws {CursorInvalidError} */
export function pageOfUnits(state: PlanState, page: StepPage): Page<StepRun> {
  const isWanted = wantedBy(page);
  const found: StepRun[] = [];
  for (const placed of unitsInOrder(state)) {
    if (!isWanted(statusOf(placed))) continue;
    found.push(toStepRun(state.outline, placed));
    if (found.length > page.first) break;
  }
  return pageOf(found, page.first, stepCursor);
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
