/** The pages of `npm run docs`, without the site generator. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { anchorOf, readmePaths } from "@planwright/testing";
import {
  type GraphQLField,
  type GraphQLInputField,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from "graphql";
import { expect, onTestFinished, test } from "vitest";
import { DeadLinksError, llmsFullTxt, llmsTxt, readSite, SCHEMA, SETTINGS } from "../src/site/pages.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const ADDRESS = "https://git.example.org/planwright";
const site = readSite(ROOT, ADDRESS);
const pages = site.groups.flatMap((group) => group.pages);
const textOf = (path: string): string => pages.find((page) => page.path === path)?.text ?? "";
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** Text outside of code. */
const proseOf = (text: string): string =>
  text.replaceAll(/^```[\s\S]*?^```/gm, "").replaceAll(/`[^`]*`/g, "");
const titlesOf = (text: string): string[] =>
  [...text.replaceAll(/^```[\s\S]*?^```/gm, "").matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) => title);
const linksOf = (text: string): string[] =>
  [...proseOf(text).matchAll(/\]\(([^()\s]+)\)/g)].map(([, link = ""]) => link);

test("every document of the repository is in the navigation, with all its titles", () => {
  const shown = pages.flatMap(({ text }) => titlesOf(text));
  for (const file of readmePaths(ROOT)) {
    if (file === "CONTRIBUTING.md") continue; // it only names docs/contributing.md
    const missing = titlesOf(read(file)).filter((title) => !shown.includes(title));
    expect({ file, missing }).toEqual({ file, missing: [] });
  }
  expect(new Set(pages.map(({ path }) => path)).size).toBe(pages.length);
});

test("every page has a title and a sentence about it", () => {
  for (const { path, text, description } of pages) {
    expect({ path, title: /^# \S.*$/m.exec(text)?.index }).toEqual({ path, title: 0 });
    expect({ path, description }).toMatchObject({ path, description: expect.stringMatching(/^[A-Z].*\.$/) });
  }
});

test("a guide whose sections are pages has its other sections, and its links lead to these pages", () => {
  expect(titlesOf(textOf("guides/upgrade"))[0]).toBe("Upgrade");
  expect(titlesOf(textOf("guides/backup"))).toEqual([
    "Back up and restore",
    "Storage",
    "How much a plan takes",
  ]);
  expect(titlesOf(textOf("guides/deploy"))).not.toContain("Upgrade");
  expect(linksOf(textOf("guides/debug"))).toContain("/guides/watch#what-to-watch");
  expect(linksOf(textOf("guides/upgrade"))).toContain(
    `${ADDRESS}/blob/HEAD/packages/lab/test/rolling-restart.test.ts`,
  );
});

test("every link leads to a title of a page, to an image of the site, to the repository or to another site", () => {
  const places = new Set(
    pages.flatMap(({ path, text }) => {
      const address = path === "index" ? "/" : `/${path}`;
      return [address, ...titlesOf(text).map((title) => `${address}#${anchorOf(title)}`)];
    }),
  );
  for (const image of site.images) places.add(`/images/${image.slice("docs/images/".length)}`);
  for (const { path, text } of pages) {
    const dead = linksOf(text).filter((link) => !places.has(link) && !/^https?:/.test(link));
    expect({ path, dead }).toEqual({ path, dead: [] });
  }
});

test("without an address of the repository, links to its files are plain text", () => {
  const { groups } = readSite(ROOT, undefined);
  const { repository } = JSON.parse(read("package.json"));
  const guarantees = groups.flatMap((group) => group.pages).find(({ path }) => path === "guarantees");
  expect(linksOf(guarantees?.text ?? "").some((link) => link.includes("/test/"))).toBe(
    repository !== undefined,
  );
  expect(linksOf(textOf("guarantees"))).toContain(
    `${ADDRESS}/blob/HEAD/services/api/test/failpoints.test.ts`,
  );
});

test("a dead link ends the build with its file", () => {
  const folder = mkdtempSync(join(tmpdir(), "planwright-site-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const file of ["package.json", ...readmePaths(ROOT)]) cpSync(join(ROOT, file), join(folder, file));
  writeFileSync(
    join(folder, "docs/older-systems.md"),
    "# Older systems\n\n[a](guides/no.md), [b](#no-title).\n",
  );
  expect(() => readSite(folder)).toThrow(DeadLinksError);
  expect(() => readSite(folder)).toThrow(
    /docs\/older-systems\.md: guides\/no\.md\n {2}docs\/older-systems\.md: #no-title/,
  );
});

test("the page of settings has every setting of every service, with its default and its meaning", () => {
  const [, ...sections] = textOf("settings").split(/^## /m);
  expect(SETTINGS.map(({ title }) => title)).toEqual(sections.map((text) => text.split("\n")[0]));
  for (const [index, { title, schema }] of SETTINGS.entries()) {
    const rows = (sections[index] ?? "").split("\n").filter((line) => line.startsWith("| `"));
    const names = rows.map((row) => /`([A-Z0-9_]+)/.exec(row)?.[1] ?? "");
    expect({ title, names }).toEqual({ title, names: expect.arrayContaining(Object.keys(schema.shape)) });
  }
  expect(textOf("settings")).toMatch(/^\| `PORT` \| `4000` \| .*Values: 0 to 65535 \|$/m);
  expect(textOf("settings")).toMatch(/^\| `MCP_SERVERS_FILE` \| required \| /m);
  expect(textOf("settings")).toMatch(/^\| `ANONYMOUS` \| `loopback` \| .*`loopback`, `allow`, `refuse` \|$/m);
});

test("the pages of GraphQL have every type, field, argument and value, with its description", () => {
  const all = `${textOf("graphql/operations")}\n${textOf("graphql/types")}`;
  const sections = new Map(all.split(/^### /m).map((text) => [text.split("\n")[0] ?? "", text]));
  const hasRow = (section: string, name: string) => sections.get(section)?.includes(`\n| \`${name}\` | `);
  const roots = ["Query", "Mutation", "Subscription"];
  const missing = Object.values(SCHEMA.getTypeMap()).flatMap((type) => {
    if (type.name.startsWith("__")) return [];
    if (isEnumType(type))
      return type
        .getValues()
        .flatMap(({ name }) => (hasRow(type.name, name) ? [] : [`${type.name}.${name}`]));
    if (!isObjectType(type) && !isInterfaceType(type) && !isInputObjectType(type)) return [];
    return Object.values<GraphQLField<unknown, unknown> | GraphQLInputField>(type.getFields()).flatMap(
      (field) => {
        const args = "args" in field ? field.args.map(({ name }) => name) : [];
        const isRoot = roots.includes(type.name);
        const found = isRoot
          ? sections.has(field.name) && args.every((name) => hasRow(field.name, name))
          : hasRow(type.name, field.name) &&
            args.every((name) => sections.get(type.name)?.includes(`\`${name}\` (`));
        return found ? [] : [`${type.name}.${field.name}`];
      },
    );
  });
  expect(missing).toEqual([]);
});

test("llms.txt has one line a page, and llms-full.txt the text of all pages", () => {
  const lines = llmsTxt(site).split("\n");
  for (const { path, label, description } of pages)
    expect(lines.filter((line) => line === `- [${label}](${path}.html): ${description}`)).toHaveLength(1);
  const full = llmsFullTxt(site);
  for (const { text } of pages) expect(full).toContain(text.trim());
  expect(lines[0]).toBe(`# Planwright ${JSON.parse(read("package.json")).version}`);
});
