/** Every page as it is drawn, in both schemes and at the widths of a phone, a tablet and a laptop. */
import { afterAll, beforeAll, test } from "vitest";
import { type ConsoleSystem, expectAccessible, startConsole } from "./console-system.ts";
import { expectFocusShown, expectWellDrawn } from "./rendered-page.ts";

let system: ConsoleSystem;
beforeAll(async () => {
  system = await startConsole();
});
afterAll(() => system?.close());

const WIDTHS = [390, 768, 1280] as const;

/** A page, and what shows that it is complete. */
const PAGES: readonly { name: string; path: () => string; shown: string }[] = [
  { name: "the parts", path: () => "/_parts", shown: ".parts-page" },
];

test.each(PAGES.flatMap((page) => (["light", "dark"] as const).map((scheme) => ({ ...page, scheme }))))(
  "$name, in $scheme, is drawn well at each width, shows the focus, and is accessible",
  async ({ path, shown, scheme }) => {
    const page = await system.open(path(), scheme);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 844 });
      await page.locator(shown).first().waitFor();
      await expectWellDrawn(page);
      await expectAccessible(page);
    }
    await expectFocusShown(page);
  },
);
