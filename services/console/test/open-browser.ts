import { existsSync } from "node:fs";
import chromium from "@sparticuz/chromium";
import { type Browser, chromium as driver } from "playwright-core";

/** No sandbox, because tests may run as root; no requests to the internet. */
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-quic",
];

/**
 * Starts a real Chromium: that of CHROMIUM_PATH, else an installed one, else the one that npm installs on
 * Linux x64.
 * @throws the error of the driver when there is none
 */
export async function openBrowser(): Promise<Browser> {
  const installed = [process.env["CHROMIUM_PATH"], "/usr/bin/chromium", "/usr/bin/google-chrome"].find(
    (path) => path !== undefined && existsSync(path),
  );
  if (installed !== undefined) {
    return driver.launch({ executablePath: installed, args: ARGUMENTS });
  }
  if (process.platform !== "linux" || process.arch !== "x64")
    throw new TypeError("No Chromium was found. Install one and name it: CHROMIUM_PATH=/path/to/chromium");
  // Not with the arguments of the package: with them the browser ends when the first page is closed.
  return driver.launch({ executablePath: await chromium.executablePath(), args: ARGUMENTS });
}
