import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type RequestHandler, Router } from "express";
import { PAGE, PAGE_POLICY, PAGE_SCRIPT, PAGE_STYLE } from "./page.ts";

const { resolve } = createRequire(import.meta.url);
const inPackage = (name: string, path: string) => join(dirname(resolve(`${name}/package.json`)), path);

/** Files of npm packages as published: nothing is loaded from other sites, and nothing has to be built. */
const FILES = {
  "/graphiql.css": inPackage("graphiql", "dist/style.css"),
  "/graphiql.js": inPackage("graphiql", "dist/index.umd.js"),
  "/react.js": inPackage("react", "umd/react.production.min.js"),
  "/react-dom.js": inPackage("react-dom", "umd/react-dom.production.min.js"),
} as const;

/** Serves the GraphiQL editor with examples in its tabs; to be mounted at /graphiql. */
export function serveGraphiql(): RequestHandler {
  const router = Router();
  router.get("/", (_request, response) => {
    response.set("content-security-policy", PAGE_POLICY).type("html").send(PAGE);
  });
  router.get("/page.js", (_request, response) => void response.type("js").send(PAGE_SCRIPT));
  router.get("/page.css", (_request, response) => void response.type("css").send(PAGE_STYLE));
  for (const [path, file] of Object.entries(FILES)) {
    // Package managers may store packages in a folder whose name begins with a dot.
    router.get(path, (_request, response) =>
      response.sendFile(file, { dotfiles: "allow", cacheControl: false }),
    );
  }
  return router;
}
