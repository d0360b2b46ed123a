import type { DiagnosticCollector } from "../diagnostics/diagnostic-collector.ts";
import { createDraftStep, type DraftStep } from "../document/draft-step.ts";
import { conditionsOf } from "../document/step.ts";
import type { JsonValue } from "../json/json.ts";
import { visitTexts } from "../json/map-json.ts";
import { locateRoot, type Names } from "../reference/locate-root.ts";
import { scanText } from "../reference/scan-text.ts";
import { shortName } from "../tools/name-tools.ts";
import type { Catalogue } from "../validation/catalogue.ts";
import { renamedIds } from "./rename-ids.ts";
import { nameSteps } from "./step-ids.ts";

/** The names that references and dependencies of drafts may use. */
export function namesOfDrafts(
  steps: readonly DraftStep[],
): Names & { readonly tools: ReadonlyMap<string, readonly string[]> } {
  const ids = new Set(steps.map(({ id }) => id));
  const tools = new Map<string, string[]>();
  for (const { tool, id } of steps) {
    // `server/tool` can also be used by its short name.
    for (const name of new Set([tool, shortName(tool)])) {
      const users = tools.get(name);
      if (users) users.push(id);
      else tools.set(name, [id]);
    }
  }
  return { hasStep: (name) => ids.has(name), renamed: renamedIds(steps), tools };
}

/**
 * Policy `insert`: for a tool that steps depend on (by contract, name or reference) and that no step calls,
 * inserts a step without arguments before the first step that needs it. Inserted steps are handled the same
 * way.
 */
export function insertAbsentSteps(
  steps: DraftStep[],
  catalogue: Catalogue,
  maxSteps: number,
  diagnostics: DiagnosticCollector,
): void {
  const names = namesOfDrafts(steps);
  const present = new Set(steps.flatMap(({ tool }) => catalogue.find(tool)?.name ?? tool));
  const inserted = new Map<DraftStep, DraftStep[]>();
  const needed = (step: DraftStep) => {
    const wanted = [...step.dependsOn, ...rootsOf(step)].filter(
      (name) => locateRoot(name, [], names).type === "unknown",
    );
    const tool = catalogue.find(step.tool);
    const byContract = tool
      ? catalogue.contractOf(tool).dependsOn.map(({ tool: name }) => catalogue.findFor(tool, name))
      : [];
    return [...wanted.map((name) => catalogue.find(name)), ...byContract];
  };
  let count = steps.length;
  for (const first of steps) {
    const before: DraftStep[] = [];
    const pending = [first];
    for (let step = pending.pop(); step; step = pending.pop()) {
      for (const tool of needed(step)) {
        if (!tool || present.has(tool.name) || count >= maxSteps) continue;
        present.add(tool.name);
        count++;
        const added = createDraftStep({ index: 0, position: -1, id: "", tool: tool.name });
        before.unshift(added);
        pending.push(added);
      }
    }
    if (before.length > 0) inserted.set(first, before);
  }
  if (inserted.size === 0) return;
  const all = steps.flatMap((step) => [...(inserted.get(step) ?? []), step]);
  // Inserted steps get their ids after all other steps, whose ids do not change.
  for (const step of steps) step.hasOwnId = true;
  nameSteps(all);
  steps.splice(0, steps.length);
  for (const step of all) {
    step.index = steps.length;
    steps.push(step);
  }
  for (const [first, before] of inserted) {
    for (const step of before) {
      const message = `step ${step.id} was inserted: step ${first.id} depends on tool ${step.tool}, which no step called`;
      diagnostics.add("DEPENDENCY_INSERTED", { step }, { message, severity: "warning" });
    }
  }
}

function rootsOf(step: DraftStep): string[] {
  const roots = new Set<string>();
  const gather = (value: JsonValue, own: readonly string[]) => {
    visitTexts(value, (text) => {
      for (const part of scanText(text)?.parts ?? []) {
        if (part.type === "reference" && !own.includes(part.root)) roots.add(part.root);
      }
    });
  };
  const inside = step.forEach ? [step.forEach.as, "index"] : [];
  gather(step.arguments, inside);
  if (step.forEach) gather(step.forEach.items, []);
  for (const { condition } of conditionsOf(step)) gather(condition, inside);
  return [...roots];
}
