import type { ToolLogger } from "@planwright/tools";
import type { Masker } from "./masker.ts";

/** The same logger, which does not repeat values that tools were sent: what servers print is logged too. Looks at texts of the first level. */
export function maskedLogger(logger: ToolLogger, mask: Masker): ToolLogger {
  const masked = (facts: object): object =>
    Object.fromEntries(
      Object.entries(facts).map(([name, fact]) => [name, typeof fact === "string" ? mask.text(fact) : fact]),
    );
  return {
    debug: (facts, message) => logger.debug(masked(facts), mask.text(message)),
    info: (facts, message) => logger.info(masked(facts), mask.text(message)),
    warn: (facts, message) => logger.warn(masked(facts), mask.text(message)),
  };
}
