/**
 * Loaded before the program: makes its pipes to the test look like a terminal with the size of TERMINAL_SIZE.
 */
import { env, stdin, stdout } from "node:process";

const [columns, rows] = (env["TERMINAL_SIZE"] ?? "100x30").split("x").map(Number);
Object.assign(stdout, { isTTY: true, columns, rows });
Object.assign(stdin, { isTTY: true, setRawMode: () => stdin });
// A terminal without a reader does not keep a process alive; a pipe may.
stdin.on("pause", () => stdin.unref()).on("resume", () => stdin.ref());
