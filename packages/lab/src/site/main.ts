/**
 * Writes the Markdown from which `npm run docs` makes the documentation site, into `infra/docs/dist/pages`: a file for
 * each page, `site.json` with version and navigation, and in `public` the images, `llms.txt` (one line a page) and
 * `llms-full.txt` (all text).
 */
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { say } from "../command/developer-command.ts";
import { llmsFullTxt, llmsTxt, readSite } from "./pages.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const FOLDER = join(ROOT, "infra/docs/dist/pages");

const site = readSite(ROOT);
rmSync(FOLDER, { recursive: true, force: true });
for (const { path, text, description } of site.groups.flatMap(({ pages }) => pages))
  write(`${path}.md`, `---\ndescription: ${JSON.stringify(description)}\n---\n\n${text}`);
for (const image of site.images) {
  mkdirSync(join(FOLDER, "public/images"), { recursive: true });
  copyFileSync(join(ROOT, image), join(FOLDER, "public/images", basename(image)));
}
write("public/llms.txt", llmsTxt(site));
write("public/llms-full.txt", llmsFullTxt(site));
const navigation = site.groups.map(({ title, pages }) => ({
  text: title,
  items: pages.map(({ label, path }) => ({ text: label, link: `/${path}` })),
}));
write("site.json", JSON.stringify({ version: site.version, navigation }));
say(`${site.groups.flatMap(({ pages }) => pages).length} pages`);

function write(path: string, text: string): void {
  const file = join(FOLDER, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
