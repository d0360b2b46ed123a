import { cut, type DiagnosticCollector } from "../document/diagnostic.ts";
import { conditionsOf, createDraftStep, type DraftStep } from "../document/plan.ts";
import { type JsonValue, visitTexts } from "../json/json.ts";
import { locateRoot, type Names, scanText } from "../reference/read-reference.ts";
import { shortName } from "../tools/tool-descriptor.ts";
import type { Catalogue } from "../validation/catalogue.ts";

const MAX_LENGTH = 64;

/** The nearest valid step id. */
export function toStepId(text: string): string {
  const plain = text
    .slice(0, MAX_LENGTH * 4)
    .replace(/[^A-Za-z0-9_-]+/g, "_")
    .replace(/^_+|_+$/g, "");
  const prefixed = /^[A-Za-z]/.test(plain) ? plain : `s${plain}`;
  const id = prefixed.slice(0, MAX_LENGTH);
  return id === "constructor" || id === "prototype" ? `${id}_` : id;
}

/**
 * Names steps without an id after their tool: `createAuthor`. When several of them use one tool, all are
 * numbered (`createAuthor_1`, `createAuthor_2`), so that the tool's name is not the id of one of them.
 */
export function nameSteps(steps: readonly Pick<DraftStep, "id" | "tool" | "hasOwnId">[]): void {
  const taken = new Set(steps.filter((step) => step.hasOwnId).map(({ id }) => id));
  const uses = new Map<string, number>();
  for (const { tool } of steps) uses.set(tool, (uses.get(tool) ?? 0) + 1);
  const numbers = new Map<string, number>();
  for (const step of steps) {
    if (step.hasOwnId) continue;
    const base = toStepId(shortName(step.tool) || "step").slice(0, MAX_LENGTH - 8);
    const isAlone = uses.get(step.tool) === 1 && !taken.has(base);
    step.id = isAlone ? base : nextFree(base, taken, numbers);
    taken.add(step.id);
  }
}

/** The first free numbered name; `numbers` has the last number of each base. */
export function nextFree(base: string, taken: ReadonlySet<string>, numbers: Map<string, number>): string {
  let number = (numbers.get(base) ?? 0) + 1;
  while (taken.has(`${base}_${number}`)) number++;
  numbers.set(base, number);
  return `${base}_${number}`;
}

/**
 * Replaces invalid step ids (`1`, `step 1`, `functions.find:0`) by the nearest valid id, each with a warning
 * that names both. Deterministic. A new id never equals the id of another step or a tool in the plan. Steps
 * with the same id still share one, so that the duplicate is reported.
 */
export function renameIds(steps: readonly DraftStep[], diagnostics: DiagnosticCollector): void {
  const renamed = new Map<string, string>();
  const numbers = new Map<string, number>();
  const taken = namesTaken(steps);
  for (const step of steps) {
    const written = step.writtenId;
    if (written === undefined) continue;
    let id = renamed.get(written);
    if (id === undefined) {
      const base = toStepId(written);
      id = taken.has(base) ? nextFree(base.slice(0, MAX_BASE), taken, numbers) : base;
      renamed.set(written, id);
      taken.add(id);
    }
    step.id = id;
    const message = `step ${step.index}: id ${cut(JSON.stringify(written))} is now ${id}, everywhere it is used; an id is a letter and up to 63 letters, digits, _ or -`;
    diagnostics.add(
      "STEP_ID_RENAMED",
      { step, keys: ["id"] },
      { message, severity: "warning", suggestion: id },
    );
  }
}

/** Leaves space for a number. */
const MAX_BASE = 56;

function namesTaken(steps: readonly DraftStep[]): Set<string> {
  const taken = new Set<string>();
  for (const { id, tool, forEach, hasOwnId, writtenId } of steps) {
    if (hasOwnId && writtenId === undefined) taken.add(id);
    taken.add(tool).add(shortName(tool));
    if (forEach) taken.add(forEach.as).add("index");
  }
  return taken;
}

/** The new ids of steps, by their written ids. */
export function renamedIds(steps: readonly DraftStep[]): ReadonlyMap<string, string> {
  return new Map(steps.flatMap(({ id, writtenId }) => (writtenId === undefined ? [] : [[writtenId, id]])));
}

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
