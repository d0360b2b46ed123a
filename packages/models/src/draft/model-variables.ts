/** The setting that holds the key of a provider: OPENAI_API_KEY. */
export const keyVariable = <Name extends string>(provider: Name) =>
  `${provider.toUpperCase() as Uppercase<Name>}_API_KEY` as const;

/** The setting that replaces the default address of a provider: OPENAI_BASE_URL. */
export const baseUrlVariable = <Name extends string>(provider: Name) =>
  `${provider.toUpperCase() as Uppercase<Name>}_BASE_URL` as const;
