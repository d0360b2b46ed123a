import type { ModelSettings, NamedModel } from "../settings/model-setting.ts";
import type { Chat } from "./chat.ts";

/** Loads the provider's library, which takes about half a second, and connects nothing yet. */
export async function openChat(named: NamedModel, settings: ModelSettings): Promise<Chat> {
  switch (named.provider) {
    case "openai":
    case "compatible":
      return (await import("./open-openai.ts")).openOpenAi(named, settings);
    case "anthropic":
      return (await import("./open-anthropic.ts")).openAnthropic(named, settings);
    case "google":
      return (await import("./open-google.ts")).openGoogle(named, settings);
  }
}
