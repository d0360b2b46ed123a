/** Loaded before the program, this makes a terminal of the pipes that a test talks through: as wide and high as TERMINAL_SIZE says. */
import { env, stdin, stdout } from "node:process";

const [columns, rows] = (env["TERMINAL_SIZE"] ?? "100x30").split("x").map(Number);
Object.assign(stdout, { isTTY: true, columns, rows });
Object.assign(stdin, { isTTY: true, setRawMode: () => stdin });
// A terminal without a reader keeps no process alive; a pipe may.
stdin.on("pause", () => stdin.unref()).on("resume", () => stdin.ref());
