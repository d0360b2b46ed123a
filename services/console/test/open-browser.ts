import { existsSync } from "node:fs";
import chromium from "@sparticuz/chromium";
import { type Browser, chromium as driver } from "playwright-core";

/** No sandbox, since tests may run as root; and nothing is asked of the internet. */
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-quic",
];

/**
 * A real Chromium: that of CHROMIUM_PATH, else one of the system, else the one that npm brings for Linux x64.
 * @throws what the driver says, when there is none
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
  // Its own arguments are for one page at a time: the browser would end with the first page that is closed.
  return driver.launch({ executablePath: await chromium.executablePath(), args: ARGUMENTS });
}
