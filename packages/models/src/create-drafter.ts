import { createCaller } from "./calls/model-caller.ts";
import type { Drafter } from "./drafter.ts";
import { createModelDrafter } from "./model-drafter.ts";
import { type ModelSettingsInput, ModelSettingsSchema, parseModelSetting } from "./model-setting.ts";
import { createOfflineDrafter } from "./offline/offline-drafter.ts";

/**
 * The drafter that the settings name. Nothing of a provider is loaded before its first draft.
 * @throws {ModelSettingError} @throws {ModelKeyMissingError} at once, so that a service does not start with a setting that cannot work
 */
export function createDrafter(input: ModelSettingsInput): Drafter {
  const settings = ModelSettingsSchema.parse(input);
  const setting = parseModelSetting(settings.MODEL);
  return setting.kind === "offline"
    ? createOfflineDrafter()
    : createModelDrafter(createCaller(setting, settings));
}
