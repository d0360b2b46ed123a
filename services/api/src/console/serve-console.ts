import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import express, { type RequestHandler, Router } from "express";
import { sendError } from "../errors/http-errors.ts";

/** The page loads only its own files, and sends requests only to the service that served it. */
export const CONSOLE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/**
 * The built files of services/console. A service imports no other service: only the path of the files is
 * looked up.
 */
const BUILT = join(
  dirname(createRequire(import.meta.url).resolve("@planwright/console/package.json")),
  "dist",
);

/**
 * Serves the console; must be mounted at /console. The page routes its own addresses, so every address below
 * that is not a file gets the page. The page needs no key: all its data comes from the API, which requires
 * one.
 * @param folder - the built files. Default: those of services/console
 */
export function serveConsole(folder: string = BUILT): RequestHandler {
  const router = Router();
  // File names change with their content.
  router.use(
    "/assets",
    express.static(join(folder, "assets"), {
      index: false,
      cacheControl: false,
      setHeaders: (response) => response.setHeader("cache-control", "public, max-age=31536000, immutable"),
    }),
    (_request, response) => sendError(response, 404, NO_FILE),
  );
  router.use(express.static(folder, { index: false, cacheControl: false }));
  router.get("/{*path}", servePage(folder));
  return router;
}

function servePage(folder: string): RequestHandler {
  const page = join(folder, "index.html");
  return (_request, response) => {
    if (!existsSync(page)) {
      sendError(response, 404, NOT_BUILT);
      return;
    }
    response.set("content-security-policy", CONSOLE_POLICY);
    // A folder in the path may begin with a dot when packages are kept in a store.
    response.sendFile(page, { dotfiles: "allow", cacheControl: false });
  };
}

const NO_FILE = {
  code: "NOT_FOUND" as const,
  message: "The console has no such file",
  remedy: "Reload the page: the service was updated since it was opened.",
};

const NOT_BUILT = {
  code: "NOT_FOUND" as const,
  message: "The console is not built",
  remedy: "Run npm run build, then restart the service.",
};
