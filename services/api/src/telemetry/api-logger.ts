/** The part of a pino logger that the service uses. */
export interface ApiLogger {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** By identity: between an error and the line about it stand layers that pass nothing else on. */
const factsOf = new WeakMap<object, object>();

/** Keeps what the log line about an error is to say beside it. */
export function noteLogFacts(error: unknown, facts: object): void {
  if (typeof error === "object" && error !== null) factsOf.set(error, facts);
}

/** What was kept of an error; nothing for one that is not known. */
export function logFactsOf(error: unknown): object {
  return (typeof error === "object" && error !== null && factsOf.get(error)) || {};
}
