import { DraftError } from "../draft/draft-error.ts";
import { PROVIDER_NAMES } from "../providers/registry.ts";

/** `MODEL` or `FALLBACK_MODEL` does not name a known model. */
export class ModelSettingError extends DraftError<{ variable: string; setting: string }> {
  readonly code = "MODEL_SETTING_INVALID";
  readonly retryable = false;
  constructor(facts: { variable: string; setting: string }) {
    const models = PROVIDER_NAMES.map((provider) => `${provider}:<model>`);
    const known = facts.variable === "MODEL" ? ["offline", ...models] : models;
    super(`${facts.variable} is "${facts.setting}", which is not one of: ${known.join(", ")}`, facts);
  }
}
