/** The part of a pino logger that the service uses. */
export interface ApiLogger {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** Keyed by identity: the layers between an error and its log line pass only the error. */
const factsOf = new WeakMap<object, object>();

/** Stores facts for the log line of an error. */
export function noteLogFacts(error: unknown, facts: object): void {
  if (typeof error === "object" && error !== null) factsOf.set(error, facts);
}

/** The stored facts of an error; empty for an unknown one. */
export function logFactsOf(error: unknown): object {
  return (typeof error === "object" && error !== null && factsOf.get(error)) || {};
}
