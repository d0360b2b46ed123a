import { RequestIdSchema } from "@planwright/plan";
import { Argument, InvalidArgumentError } from "commander";

/** The request that a command is about. */
export function requestArgument(): Argument {
  return new Argument("<requestId>", "such as req_1795253322_b8dzgomm7f8z2yi7kyqz").argParser(
    (text: string) => {
      const parsed = RequestIdSchema.safeParse(text);
      if (parsed.success) return parsed.data;
      throw new InvalidArgumentError("A request id looks like req_1795253322_b8dzgomm7f8z2yi7kyqz.");
    },
  );
}
