import { type FoldedUnit, positionsInResults, type StoredOutput } from "@planwright/engine";
import {
  type HeldJson,
  isForEachStep,
  JsonText,
  LARGE_JSON_BYTES,
  type OutputText,
  type OutputTexts,
  parseExactJson,
} from "@planwright/plan";
import type { StoreDependencies } from "../journal/dependencies.ts";
import { withValues } from "../journal/unit-values.ts";
import { readOutputTexts } from "../outputs/output-store.ts";
import { OutputMissingError } from "../records/errors.ts";
import type { PlanClaim } from "./execution-store.ts";

/**
 * Outputs of completed units of a claimed plan, as they were written, in the order of the keys.
 * @throws {OutputMissingError}
 */
export async function readStoredOutputs(
  { collections, unitReads }: StoreDependencies,
  { plan, journal }: PlanClaim,
  keys: readonly string[],
): Promise<StoredOutput[]> {
  const { tenant, requestId } = plan;
  const lists = new Set<string>(plan.plan.steps.filter(isForEachStep).map(({ id }) => id));
  const wanted = new Set(keys);
  const isItemOf = (unit: FoldedUnit): boolean => unit.item !== undefined && wanted.has(unit.stepId);
  const ofWanted = [...journal.units()].filter((unit) => wanted.has(unit.key) || isItemOf(unit));
  const units = ofWanted.filter(({ status }) => status === "COMPLETED");
  const read = await withValues(
    unitReads.log,
    units.map((unit) => ({ requestId, unit })),
    { output: true },
  );
  // For items of a wanted list only the texts that tools wrote are needed.
  const refs = read.flatMap(({ key, outputRef }) =>
    outputRef && (wanted.has(key) || outputRef.isOwnText) ? [outputRef] : [],
  );
  const texts = await readOutputTexts(collections, tenant, refs);
  const byKey = new Map(read.map((unit) => [unit.key, unit]));
  return keys.map((key): StoredOutput => {
    const unit = byKey.get(key);
    if (!unit) throw new OutputMissingError({ id: `${plan._id}/${key}` });
    const written = lists.has(key) ? textsOfItems(key) : textOf(unit, texts);
    return { key, output: valueOf(unit, texts), ...(written !== undefined && { texts: written }) };
  });

  /** The JSON texts that tools wrote for the items of a list; undefined when there are none. */
  function textsOfItems(stepId: string): OutputTexts | undefined {
    const found: OutputTexts = [];
    const positions = positionsInResults(
      ofWanted.filter((unit) => unit.stepId === stepId && unit.item !== undefined),
    );
    for (const unit of read) {
      const position = unit.stepId === stepId ? positions.get(unit.item ?? -1) : undefined;
      const text = position === undefined ? undefined : textOf(unit, texts);
      if (position !== undefined && text !== undefined) found[position] = text;
    }
    return found.length > 0 ? found : undefined;
  }
}

type Written = Pick<FoldedUnit, "output" | "outputRef" | "outputText">;

function valueOf({ output = null, outputRef }: Written, texts: ReadonlyMap<string, string>): HeldJson {
  const text = outputRef && texts.get(outputRef.id);
  if (!outputRef || text === undefined) return output;
  const { sizeBytes } = outputRef;
  return sizeBytes > LARGE_JSON_BYTES ? new JsonText(text, sizeBytes) : parseExactJson(text);
}

function textOf(
  { outputRef, outputText }: Written,
  texts: ReadonlyMap<string, string>,
): OutputText | undefined {
  return outputRef?.isOwnText ? texts.get(outputRef.id) : outputText;
}
