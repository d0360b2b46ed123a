// The documentation site: VitePress over the pages that `npm run docs` writes into dist/pages.
import { readFileSync } from "node:fs";
import { renderMermaidSVG } from "beautiful-mermaid";
import { defineConfig } from "vitepress";

const { version, navigation } = JSON.parse(
  readFileSync(new URL("../dist/pages/site.json", import.meta.url), "utf8"),
);

/** The path of the site on its server. VitePress adds it to links to pages, not to those to other files. */
const base = process.env.DOCS_BASE ?? "/";

/** The anchor of a title, as GitHub makes it: links in documents are written for GitHub. */
const slugify = (title) =>
  title
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");

/** In a template of Vue two braces begin an expression; documents show them as text. */
const withoutExpressions = (html) => html.replaceAll("{{", "&#123;&#123;");

/**
 * A drawing in the colours of the page. Its text uses the fonts of the page, not those of the internet. As `v-html`,
 * because a template of Vue drops the element `style` in it.
 */
function drawing(source, { escapeHtml }) {
  const colours = { bg: "var(--vp-c-bg)", fg: "var(--vp-c-text-1)", transparent: true };
  const svg = renderMermaidSVG(source, colours).replaceAll(/@import url\([^)]*\);?/g, "");
  const [, width] = /width="([\d.]+)"/.exec(svg);
  return `<div class="drawing" style="--width: ${width}px" v-html="${escapeHtml(JSON.stringify(svg))}"></div>`;
}

export default defineConfig({
  title: "Planwright",
  description: "One sentence in, one stored plan out, executed to the end whatever crashes.",
  lang: "en",
  base,
  srcDir: "dist/pages",
  outDir: "dist/site",
  cacheDir: "dist/cache",
  // The index of the search is one file, which is loaded when the reader searches.
  vite: { build: { chunkSizeWarningLimit: 2_000 } },
  markdown: {
    // Documents are plain Markdown: no HTML, no attributes, no emoji, no words that look like addresses.
    html: false,
    linkify: false,
    attrs: { disable: true },
    anchor: { slugify },
    config(markdown) {
      markdown.core.ruler.disable("emoji");
      const { rules } = markdown.renderer;
      const { fence, text, code_inline } = rules;
      rules.text = (...args) => withoutExpressions(text(...args));
      rules.code_inline = (...args) => withoutExpressions(code_inline(...args));
      // A table that is wider than the page scrolls inside of it.
      rules.table_open = () => '<div class="wide"><table>';
      rules.table_close = () => "</table></div>";
      rules.fence = (tokens, index, ...rest) => {
        const { info, content } = tokens[index];
        return info === "mermaid" ? drawing(content, markdown.utils) : fence(tokens, index, ...rest);
      };
    },
  },
  themeConfig: {
    search: { provider: "local" },
    nav: [
      { text: "Settings", link: "/settings" },
      { text: "GraphQL", link: "/graphql/operations" },
      {
        text: `v${version}`,
        items: [
          { text: "llms.txt", link: `${base}llms.txt`, target: "_blank" },
          { text: "llms-full.txt", link: `${base}llms-full.txt`, target: "_blank" },
        ],
      },
    ],
    sidebar: navigation,
    outline: [2, 3],
  },
});
