/** The commands in the README of this service, grouped by what has to run to try them. */
import { fileURLToPath } from "node:url";
import { readmeBlocks } from "@planwright/testing";

let distinct = 1_795_253_322;
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const LINES = readmeBlocks(ROOT, "services/api/README.md")
  .filter(({ language }) => language === "sh")
  .flatMap(({ text }) => text.trim().split("\n"))
  .map((line) => line.replaceAll("'$(date +%s)'", () => String(distinct++)));

const GRAPHQL = /^curl -sN? http:\/\/127\.0\.0\.1:4000(\/graphql(?:\/stream)?) (?:-H '[^']+' )+-d '(.*)'$/;
const MCP = /^curl -sN http:\/\/127\.0\.0\.1:4000(\/mcp) ((?:-H '[^']+' )+)-d '(.*)'$/;
const WITH_KEY = /^curl .*Bearer \$PLANWRIGHT_API_KEY" .* -d '(.*)'$/;
const KEYS = /^npm run -s keys -- (.+)$/;
/** Tested by packages/local, which starts the services one by one. */
const START = /^MONGODB_URL=.* node services\/api\/dist\/main\.js$/;

const parts = (form: RegExp): string[][] =>
  LINES.flatMap((line) => {
    const [, ...found] = form.exec(line) ?? [];
    return found.length > 0 ? [found] : [];
  });

/** Operations with the paths to which they are sent. */
export const graphqlExamples = parts(GRAPHQL).map(([path = "", body = ""]) => ({ path, body }));

/** Calls of the MCP tools. */
export const mcpExamples = parts(MCP).map(([path = "", headers = "", body = ""]) => ({
  path,
  headers: [...headers.matchAll(/'(.*?): (.*?)'/g)].map(([, name = "", value = ""]): [string, string] => [
    name,
    value,
  ]),
  body,
}));

/** Operations that are sent with a key. */
export const bodiesWithKey = parts(WITH_KEY).map(([body = ""]) => body);

/** Arguments after `npm run -s keys --`. */
export const keysCommands = parts(KEYS).map(([args = ""]) => args);

/** Lines that none of these tests runs. */
export const otherLines = LINES.filter(
  (line) => ![GRAPHQL, MCP, WITH_KEY, KEYS, START].some((form) => form.test(line)),
);
