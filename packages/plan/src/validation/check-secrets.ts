import { cut, type DiagnosticCollector } from "../diagnostics/diagnostic-collector.ts";
import { argumentKeys, type DraftStep } from "../document/draft-step.ts";
import { conditionsOf } from "../document/step.ts";
import type { JsonValue } from "../json/json.ts";
import { placeKeys, visitTexts } from "../json/map-json.ts";
import { holdsCredential } from "../secrets/credential.ts";
import { SECRET_PREFIX, secretNameOf } from "../secrets/secret.ts";

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
