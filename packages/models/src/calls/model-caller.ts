import type { Provider } from "../providers/registry.ts";
import {
  type ModelSettings,
  type ModelSettingsInput,
  ModelSettingsSchema,
  type NamedModel,
  parseFallbackSetting,
  parseModelSetting,
} from "../settings/model-setting.ts";
import { ModelSettingError } from "../settings/model-setting-error.ts";
import type { ModelCaller } from "./model-ask.ts";
import { createOneModel, type OneModel } from "./one-model.ts";
import { createSlots, type Slots } from "./slots.ts";
import { withFallback } from "./with-fallback.ts";
import { withRecorded } from "./with-recorded.ts";

/**
 * A caller for the models of `MODEL` and `FALLBACK_MODEL`. The library of a provider is loaded at its first
 * call.
 * @throws {ModelSettingError} also for MODEL=offline
 * @throws {ModelError} with MODEL_KEY_MISSING
 */
export function createModelCaller(input: ModelSettingsInput): ModelCaller {
  const settings = ModelSettingsSchema.parse(input);
  const setting = parseModelSetting(settings.MODEL);
  if (setting.kind === "offline") throw new ModelSettingError({ variable: "MODEL", setting: "offline" });
  return createCaller(setting, settings);
}

/** {@link createModelCaller} for settings that are already parsed. */
export function createCaller(first: NamedModel, settings: ModelSettings): ModelCaller {
  const slotsOf = slotsByProvider(settings.MODEL_MAX_CONCURRENCY);
  const open = (model: NamedModel): OneModel =>
    createOneModel({ named: model, settings, slots: slotsOf(model.provider) });
  const firstModel = open(first);
  const fallback = settings.FALLBACK_MODEL;
  if (fallback === undefined) {
    return withRecorded({ name: first.name, ask: (asked) => firstModel.ask(asked, null) }, [first.name]);
  }
  const second = open(parseFallbackSetting(fallback));
  return withRecorded(withFallback(firstModel, second), [first.name, second.name]);
}

/** Gives all models of a provider the same slots. */
function slotsByProvider(size: number): (provider: Provider) => Slots {
  const slots = new Map<Provider, Slots>();
  return (provider) => {
    const known = slots.get(provider) ?? createSlots(size);
    slots.set(provider, known);
    return known;
  };
}
