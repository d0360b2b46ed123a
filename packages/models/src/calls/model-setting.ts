import { z } from "zod";
import { baseUrlVariable, DraftError, keyVariable } from "../draft/draft-error.ts";
import type { Chat } from "../providers/chat.ts";
import { isProvider, PROVIDER_NAMES, PROVIDERS, type Provider } from "../providers/registry.ts";

/** The variable that must be set before a provider can be called; null when none is missing. */
export function missingVariable(provider: Provider, settings: ModelSettings): string | null {
  const [key, baseUrl] = [keyVariable(provider), baseUrlVariable(provider)];
  switch (PROVIDERS[provider].needs) {
    case "key":
      return settings[key] === undefined ? key : null;
    case "key or base URL":
      return settings[key] === undefined && settings[baseUrl] === undefined ? key : null;
    case "base URL":
      return settings[baseUrl] === undefined ? baseUrl : null;
  }
}

/** The address of a provider's server; undefined when none is set. */
export function addressOf(provider: Provider, settings: ModelSettings): string | undefined {
  return settings[baseUrlVariable(provider)] ?? PROVIDERS[provider].home ?? undefined;
}

/** A server at a configured base URL may need no key, but the clients require one. */
const NO_KEY = "none";

/**
 * Loads the library of the model's provider. Does not connect yet.
 * @param address - see {@link addressOf}
 */
export function openChat(
  { provider, model, name }: NamedModel,
  address: string,
  settings: ModelSettings,
): Promise<Chat> {
  return PROVIDERS[provider].open({
    model,
    name,
    apiKey: settings[keyVariable(provider)] ?? NO_KEY,
    baseUrl: address,
    baseUrlVariable: baseUrlVariable(provider),
    timeoutMs: settings.MODEL_TIMEOUT_MS,
    maxOutputTokens: settings.MODEL_MAX_OUTPUT_TOKENS,
  });
}

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

/** A model of a provider. */
export interface NamedModel {
  provider: Provider;
  /** The provider's name for the model. */
  model: string;
  /** "provider:model". */
  name: string;
}

/** The parsed `MODEL`: offline, or a model of a provider. */
export type ModelSetting = { kind: "offline" } | ({ kind: "model" } & NamedModel);

const key = () => z.string().min(1).max(1_000).optional();
const baseUrl = () =>
  z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    // fetch refuses such URLs, but only at the first request.
    .refine(hasNoCredentials, "must hold no name and password: give the key in the variable for keys")
    .optional();

type ProviderVariables = Record<ReturnType<typeof keyVariable<Provider>>, ReturnType<typeof key>> &
  Record<ReturnType<typeof baseUrlVariable<Provider>>, ReturnType<typeof baseUrl>>;

/** Key and base URL of each provider in the registry. */
function providerVariables(): ProviderVariables {
  const fields = PROVIDER_NAMES.flatMap((name) => [
    [keyVariable(name), key()] as const,
    [baseUrlVariable(name), baseUrl()] as const,
  ]);
  // The names of the registry are the keys of its type.
  return Object.fromEntries(fields) as ProviderVariables;
}

/** The settings of a drafter, named like the environment variables. */
export const ModelSettingsSchema = z.object({
  /** "offline", or "<provider>:<model>". */
  MODEL: z.string().min(1).max(200).default("offline"),
  /** The model that is called when the first one is not available: "<provider>:<model>". */
  FALLBACK_MODEL: z.string().min(1).max(200).optional(),
  ...providerVariables(),
  /** Time limit of one model call with all its tries, in milliseconds. */
  MODEL_TIMEOUT_MS: z.coerce.number().int().min(1).max(600_000).default(60_000),
  /** Retries after 429, 5xx, lost connections and cut answers. */
  MODEL_MAX_RETRIES: z.coerce.number().int().min(0).max(10).default(2),
  /** Maximum of tokens of one answer. */
  MODEL_MAX_OUTPUT_TOKENS: z.coerce.number().int().min(64).max(200_000).default(8_192),
  /** Concurrent calls of one provider in this process; other calls wait. */
  MODEL_MAX_CONCURRENCY: z.coerce.number().int().min(1).max(1_000).default(8),
});
export type ModelSettings = z.infer<typeof ModelSettingsSchema>;
/** Settings as a caller passes them; all are optional. */
export type ModelSettingsInput = z.input<typeof ModelSettingsSchema>;

/** Reads `MODEL`. @throws {ModelSettingError} with the allowed forms */
export function parseModelSetting(value: string): ModelSetting {
  if (value === "offline") return { kind: "offline" };
  const model = namedModel(value);
  if (!model) throw new ModelSettingError({ variable: "MODEL", setting: value.slice(0, 100) });
  return { kind: "model", ...model };
}

/**
 * Reads `FALLBACK_MODEL`, which must be a model: the offline drafter is not a fallback.
 * @throws {ModelSettingError}
 */
export function parseFallbackSetting(value: string): NamedModel {
  const model = namedModel(value);
  if (!model) throw new ModelSettingError({ variable: "FALLBACK_MODEL", setting: value.slice(0, 100) });
  return model;
}

function namedModel(value: string): NamedModel | null {
  const colon = value.indexOf(":");
  const provider = value.slice(0, colon);
  const model = value.slice(colon + 1).trim();
  return isProvider(provider) && model !== "" ? { provider, model, name: `${provider}:${model}` } : null;
}

function hasNoCredentials(url: string): boolean {
  if (!URL.canParse(url)) return true; // the check of the URL reports it
  const { username, password } = new URL(url);
  return username === "" && password === "";
}
