/**
 * A worker of a test run as a separate process: asks for a part and prints its value, or the reason why there
 * is none.
 */
import { z } from "zod";
import { askOnDemand, NotMadeOnDemandError } from "../src/ask-on-demand.ts";

const [folder = "", pid = ""] = process.argv.slice(2);
try {
  process.stdout.write(askOnDemand({ folder, pid: Number(pid) }, z.string()));
} catch (error) {
  if (!(error instanceof NotMadeOnDemandError)) throw error;
  process.stdout.write(`not made: ${error.message}`);
}
