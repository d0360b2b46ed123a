import type { OutputTexts } from "@planwright/plan";
import type { EngineState, StepNode } from "./engine-state.ts";

type Published = Pick<EngineState, "outputs" | "texts" | "stepsById" | "itemRecords">;

/** Makes the output of a completed step readable under its id, and under its tool's name while no other step goes by that. */
export function publishOutput(state: Published, node: StepNode): void {
  const { unit, tool } = node;
  if (unit.status !== "COMPLETED" || unit.output === undefined) return;
  const texts = unit.outputText ?? textsOfItems(state, node);
  const hasToolName = tool.users === 1 && !state.stepsById.has(tool.name);
  for (const name of hasToolName ? [unit.key, tool.name] : [unit.key]) {
    state.outputs.set(name, unit.output);
    if (texts !== undefined) state.texts.set(name, texts);
  }
}

/** How tools wrote the data of a forEach's items, from the items themselves or their records; undefined when none gave JSON text. */
function textsOfItems({ itemRecords }: Published, { step, forEach }: StepNode): OutputTexts | undefined {
  const items = forEach?.units ?? itemRecords.get(step.id)?.values() ?? [];
  const texts: OutputTexts = [];
  for (const { item, outputText } of items) {
    if (item !== undefined && outputText !== undefined) texts[item] = outputText;
  }
  return texts.length > 0 ? texts : undefined;
}
