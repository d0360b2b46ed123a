import { cut, type DiagnosticCollector } from "../diagnostics/diagnostic.ts";
import { holdsCredential, SECRET_PREFIX, secretNameOf } from "../document/secret.ts";
import { argumentKeys, conditionsOf, type DraftStep } from "../document/step.ts";
import type { JsonObject, JsonValue } from "../json/json.ts";
import { placeKeys, visitTexts } from "../json/map-json.ts";
import { scanText } from "../reference/read-reference.ts";
import { isListedAt } from "../schema/fit-texts.ts";
import { foreignReference, isPlaceholder } from "./check-no-values.ts";

/** Reports step ids that several steps have. */
export function checkIds(steps: readonly DraftStep[], diagnostics: DiagnosticCollector): void {
  const seen = new Set<string>();
  for (const step of steps) {
    if (seen.has(step.id)) {
      const message = `step id ${step.id} is used more than once; give each step its own`;
      diagnostics.add("STEP_ID_DUPLICATE", { step, keys: ["id"] }, { message });
    }
    seen.add(step.id);
  }
}

const MAX_PLACEHOLDERS = 20;

/** Context for distinguishing placeholders from values. */
export interface PlaceholderChecking {
  readonly hasStep: (name: string) => boolean;
  readonly isLiteral: (text: string) => boolean;
  /** Schema of the step's arguments; texts that it lists are values. */
  readonly schema: JsonObject | undefined;
  readonly diagnostics: DiagnosticCollector;
}

/** Reports placeholders instead of values. */
export function checkPlaceholders(
  step: DraftStep,
  { hasStep, isLiteral, schema, diagnostics }: PlaceholderChecking,
): void {
  let count = 0;
  visitTexts(step.arguments, (text, place) => {
    if (text.length > 100 || !isPlaceholder(text) || count >= MAX_PLACEHOLDERS || isLiteral(text)) return;
    const foreign = foreignReference(text);
    // Already reported as a reference in a foreign notation.
    if (foreign && hasStep(foreign.root)) return;
    count++;
    const below = placeKeys(place);
    if (schema && isListedAt(text, below, schema)) return;
    const keys = [...argumentKeys(step), ...below];
    const message = `step ${step.id}: ${cut(text)} is a placeholder; give the value, or a reference such as <<step.field>>`;
    diagnostics.add("ARGUMENT_PLACEHOLDER", { step, keys }, { message });
  });
}

/**
 * Checks a forEach: its items are a list or exactly one reference, its alias hides no step, and the keys of
 * literal items are unique.
 */
export function checkForEach(
  step: DraftStep,
  hasStep: (name: string) => boolean,
  diagnostics: DiagnosticCollector,
): void {
  const { forEach } = step;
  if (!forEach) return;
  if (typeof forEach.items === "string") {
    const parts = scanText(forEach.items)?.parts ?? [];
    if (parts.length !== 1 || parts[0]?.type !== "reference") {
      const message = `step ${step.id}: forEach.items is a text that is not exactly one reference; give a list, or <<step.field>>`;
      diagnostics.add("FOREACH_ITEMS_NOT_LIST", { step, keys: ["forEach", "items"] }, { message });
    }
  }
  if (hasStep(forEach.as)) {
    const message = `step ${step.id}: inside its forEach, ${forEach.as} means the item and hides the step of that name`;
    diagnostics.add(
      "FOREACH_ALIAS_CONFLICT",
      { step, keys: ["forEach", "as"] },
      { message, severity: "warning" },
    );
  }
  checkKeys(step, forEach, diagnostics);
  checkMinSuccess(step, forEach, diagnostics);
}

/** Reports a number of successes that the list cannot reach, or that has no effect. */
function checkMinSuccess(
  step: DraftStep,
  forEach: NonNullable<DraftStep["forEach"]>,
  diagnostics: DiagnosticCollector,
): void {
  const { items, errors, minSuccess } = forEach;
  if (minSuccess === undefined) return;
  const count = Array.isArray(items) ? items.length : 0;
  const why =
    errors === "stop"
      ? `errors "stop" fails the step at the first failed item, so minSuccess ${minSuccess} changes nothing; use errors "collect", or leave minSuccess out`
      : count > 0 && minSuccess > count
        ? `minSuccess ${minSuccess} is more than the ${count} items of the list, so the step always fails; give at most ${count}, or a share below 1`
        : undefined;
  if (why === undefined) return;
  diagnostics.add(
    "FOREACH_MIN_SUCCESS",
    { step, keys: ["forEach", "minSuccess"] },
    { message: `step ${step.id}: ${why}`, severity: "warning" },
  );
}

function checkKeys(
  step: DraftStep,
  forEach: NonNullable<DraftStep["forEach"]>,
  diagnostics: DiagnosticCollector,
): void {
  if (forEach.key === undefined || !Array.isArray(forEach.items)) return;
  const scanned = scanText(forEach.key)?.parts ?? [];
  const [only] = scanned;
  const isAlias = scanned.length === 1 && only?.type === "reference" && only.root === forEach.as;
  const where = { step, keys: ["forEach", "key"] };
  if (scanned.every(({ type }) => type === "literal") && forEach.items.length > 1) {
    const message = `step ${step.id}: forEach.key is the same text for every item; refer to the item, such as <<${forEach.as}.id>>`;
    diagnostics.add("FOREACH_KEY_DUPLICATE", where, { message });
  } else if (isAlias && only.path.length === 0) {
    const texts = forEach.items.filter((item) => typeof item !== "object").map(String);
    if (new Set(texts).size === texts.length) return;
    const message = `step ${step.id}: forEach.key gives some items the same key; keys must be unique`;
    diagnostics.add("FOREACH_KEY_DUPLICATE", where, { message });
  }
}

const MAX_DIAGNOSTICS = 20;

/**
 * Checks secrets: they must be complete values of arguments, with a literal name. Anywhere else the text is
 * sent, or compared, unchanged. A text that looks like a credential gets a warning that does not repeat it,
 * because plans are stored and shown unchanged.
 */
export function checkSecrets(step: DraftStep, diagnostics: DiagnosticCollector): void {
  const { forEach } = step;
  let count = 0;
  const check = (value: JsonValue, below: readonly string[], isArgument: boolean): void =>
    visitTexts(value, (text, place) => {
      if (count >= MAX_DIAGNOSTICS || (isArgument && secretNameOf(text) !== undefined)) return;
      const isExposed = holdsCredential(text);
      if (!isExposed && !text.includes(SECRET_PREFIX)) return;
      count++;
      const where = { step, keys: [...below, ...placeKeys(place)] };
      if (isExposed) {
        const message = `step ${step.id}: a text holds what looks like a credential, and the plan is stored with it as it is; give the secret to the executor and write secret:// and its name as the whole argument`;
        diagnostics.add("SECRET_EXPOSED", where, {
          message,
          severity: "warning",
          suggestion: "secret://name",
        });
      } else if (isArgument && text.startsWith(SECRET_PREFIX) && !/\s/.test(text)) {
        const message = `step ${step.id}: ${cut(text)} names no secret; write secret:// and a name of letters, digits, ".", "_" and "-", without references`;
        diagnostics.add("SECRET_INVALID", where, { message });
      } else {
        const message = `step ${step.id}: ${cut(text)} stays as it is written; a secret is inserted only where it is the whole value of an argument`;
        diagnostics.add("SECRET_MISPLACED", where, { message, severity: "warning" });
      }
    });
  check(step.arguments, argumentKeys(step), true);
  if (forEach) check(forEach.items, ["forEach", "items"], false);
  for (const { condition, keys } of conditionsOf(step)) check(condition, keys, false);
}
