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
 * The program of a Chromium: that of CHROMIUM_PATH, else an installed one, else the one that npm installs on
 * Linux x64.
 * @throws {TypeError} when there is none
 */
export async function chromiumPath(): Promise<string> {
  const installed = [process.env["CHROMIUM_PATH"], "/usr/bin/chromium", "/usr/bin/google-chrome"].find(
    (path) => path !== undefined && existsSync(path),
  );
  if (installed !== undefined) return installed;
  if (process.platform !== "linux" || process.arch !== "x64")
    throw new TypeError("No Chromium was found. Install one and name it: CHROMIUM_PATH=/path/to/chromium");
  return await chromium.executablePath();
}

/**
 * Starts the Chromium of {@link chromiumPath}, not with the arguments of the package for Linux x64: with them
 * the browser ends when the first page is closed.
 * @throws the error of the driver when there is none
 */
export async function openBrowser(): Promise<Browser> {
  return driver.launch({ executablePath: await chromiumPath(), args: ARGUMENTS });
}

let shared: Promise<Browser> | undefined;

/** The browser of all test files of this process, with which it ends. */
export function sharedBrowser(): Promise<Browser> {
  shared ??= openBrowser();
  return shared;
}
