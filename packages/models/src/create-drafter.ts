import { createCaller } from "./calls/model-caller.ts";
import type { Drafter } from "./draft/drafter.ts";
import { createModelDrafter } from "./model-drafter.ts";
import { type ModelSettingsInput, ModelSettingsSchema, parseModelSetting } from "./settings/model-setting.ts";
import { ModelSettingError } from "./settings/model-setting-error.ts";

/**
 * The drafter of the settings. The library of a provider is loaded at its first draft.
 * @param withoutModel - creates the drafter for MODEL=offline, such as that of `@planwright/offline`; absent:
 * a model is required
 * @throws {ModelSettingError}
 * @throws {ModelError} with MODEL_KEY_MISSING; at once, so that a service does not start with a setting that
 * cannot work
 */
export function createDrafter(input: ModelSettingsInput, withoutModel?: () => Drafter): Drafter {
  const settings = ModelSettingsSchema.parse(input);
  const setting = parseModelSetting(settings.MODEL);
  if (setting.kind === "model") return createModelDrafter(createCaller(setting, settings));
  if (withoutModel) return withoutModel();
  throw new ModelSettingError({ variable: "MODEL", setting: "offline" });
}
