import { STATE_LOOKS, stateLook, WAIT_WORDS } from "@planwright/plan";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { VIEW_LOOKS } from "../src/parts/looks.ts";
import { CHANGE_LOOK } from "../src/request/diff.ts";

/**
 * Looks at a page as it is drawn, and fails with a list of what a person would see: a page that is wider than its
 * screen, an element outside of it, a text that is cut without a sign, covers another one, breaks inside a word or is
 * too pale, and a pill whose word is not in the table of states.
 */
export async function expectWellDrawn(page: Page): Promise<void> {
  const { faults, pills } = await page.evaluate(look);
  const unknown = pills.filter(({ word, tone }) => !KNOWN_PILLS.has(`${word} ${tone}`));
  expect([...faults, ...unknown.map(({ word, tone }) => `pill: ${word} (${tone}) is no state`)]).toEqual([]);
}

/** The words and tones of all pills that a view may show. */
const KNOWN_PILLS: ReadonlySet<string> = new Set(
  [
    ...(["request", "plan", "step"] as const).flatMap((kind) =>
      Object.keys(STATE_LOOKS[kind]).flatMap((status) => [
        stateLook(kind, { status }),
        ...Object.keys(WAIT_WORDS).map((waitReason) => stateLook(kind, { status, waitReason })),
      ]),
    ),
    ...VIEW_LOOKS,
    ...Object.values(CHANGE_LOOK),
  ].map(({ word, tone }) => `${word} ${tone}`),
);

/** Elements that are reached with the key Tab, at most. */
const TABBED = 15;

/** Walks through the page with the key Tab, and fails for an element that does not show that it has the focus. */
export async function expectFocusShown(page: Page): Promise<void> {
  const faults: string[] = [];
  for (let count = 0; count < TABBED; count += 1) {
    await page.keyboard.press("Tab");
    const fault = await page.evaluate(() => {
      const element = document.activeElement;
      if (!element || element === document.body) return null;
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      const { width, height } = element.getBoundingClientRect();
      const isShown =
        outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 2 && width > 1 && height > 1;
      return isShown ? null : element.outerHTML.slice(0, 120);
    });
    if (fault !== null) faults.push(fault);
  }
  expect(faults).toEqual([]);
}

/** Runs in the page, so it uses nothing from outside. */
function look(): { faults: string[]; pills: { word: string; tone: string }[] } {
  const faults: string[] = [];
  const screen = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > screen)
    faults.push(`the page is ${document.documentElement.scrollWidth} px wide on a screen of ${screen} px`);

  interface Box {
    left: number;
    top: number;
    right: number;
    bottom: number;
  }
  const nameOf = (element: Element) => {
    const words = (element.textContent ?? "").trim().replace(/\s+/gu, " ").slice(0, 50);
    return `<${element.tagName.toLowerCase()} class="${element.getAttribute("class") ?? ""}"> ${words}`;
  };
  /** Drawn for screen readers only. */
  function isForReaders(element: Element): boolean {
    if (element.closest(".hidden") !== null) return true;
    for (let at: Element | null = element; at; at = at.parentElement) {
      const { width, height } = at.getBoundingClientRect();
      if (width <= 1 && height <= 1 && getComputedStyle(at).overflowX === "hidden") return true;
    }
    return false;
  }
  /** A canvas that is moved and enlarged, or a drawing. */
  const isCanvas = (element: Element) =>
    element.closest(".react-flow__viewport, svg, .cm-editor, [data-canvas]") !== null;

  /** The part of a box that its ancestors let through, and whether one of them cuts it without a way to see the rest. */
  function seen(element: Element, box: Box): { box: Box; isCut: boolean } {
    const shown = { ...box };
    let isCut = false;
    let isScrolled = false;
    for (let at: Element | null = element; at && at !== document.body; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.overflowX === "visible" && style.overflowY === "visible") continue;
      const frame = at.getBoundingClientRect();
      const hasSign = style.textOverflow === "ellipsis" || style.webkitLineClamp !== "none";
      if (style.overflowX === "auto" || style.overflowX === "scroll" || hasSign) isScrolled = true;
      if (!isScrolled && (box.right > frame.right + 1 || box.left < frame.left - 1)) isCut = true;
      shown.left = Math.max(shown.left, frame.left);
      shown.right = Math.min(shown.right, frame.right);
      shown.top = Math.max(shown.top, frame.top);
      shown.bottom = Math.min(shown.bottom, frame.bottom);
      if (style.position === "fixed") break;
    }
    return { box: shown, isCut };
  }

  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  function rgba(colour: string): [number, number, number, number] {
    if (!canvas) return [0, 0, 0, 1];
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0, alpha = 0] = canvas.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  }
  const over = (top: readonly number[], alpha: number, below: readonly number[]) =>
    below.map((value, index) => (top[index] ?? 0) * alpha + value * (1 - alpha));
  function groundOf(element: Element): number[] {
    const layers: [number, number, number, number][] = [];
    for (let at: Element | null = element; at; at = at.parentElement) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3] > 0) layers.push(colour);
      if (colour[3] >= 1) break;
    }
    return layers.reduceRight(
      (below: number[], [red, green, blue, alpha]) => over([red, green, blue], alpha, below),
      [255, 255, 255],
    );
  }
  function luminance(colour: readonly number[]): number {
    const [red = 0, green = 0, blue = 0] = colour.map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }
  function contrast(element: Element): number {
    const ground = groundOf(element);
    const [red, green, blue, alpha] = rgba(getComputedStyle(element).color);
    const [one, other] = [luminance(over([red, green, blue], alpha, ground)), luminance(ground)];
    return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  }

  const texts: { element: Element; box: Box }[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    const text = node.textContent ?? "";
    if (!element || text.trim() === "" || isForReaders(element) || isCanvas(element)) continue;
    if (
      element.closest(
        "option, script, style, noscript, dialog:not([open]), details:not([open]) > :not(summary)",
      )
    )
      continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const rects = [...range.getClientRects()].filter(({ width, height }) => width > 0 && height > 0);
    if (rects.length === 0 || getComputedStyle(element).visibility === "hidden") continue;
    let isSeen = false;
    for (const rect of rects) {
      const { box, isCut } = seen(element, rect);
      if (isCut) faults.push(`cut: ${nameOf(element)}`);
      if (box.right - box.left < 2 || box.bottom - box.top < 2) continue;
      isSeen = true;
      if (box.right > screen + 1 || box.left < -1) faults.push(`outside: ${nameOf(element)}`);
      texts.push({ element, box });
    }
    if (!isSeen) continue;
    if (!element.closest("pre, code"))
      for (const found of text.matchAll(/(?<![^\s(„“"'])\p{L}{2,24}(?=[\s.,:;!?)“”"']|$)/gu)) {
        range.setStart(node, found.index);
        range.setEnd(node, found.index + found[0].length);
        const tops = new Set(
          [...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => Math.round(top)),
        );
        if (tops.size > 1) faults.push(`broken: ${found[0]} in ${nameOf(element)}`);
      }
    const { fontSize, fontWeight } = getComputedStyle(element);
    const size = Number.parseFloat(fontSize);
    const least = size >= 24 || (size >= 18.66 && Number(fontWeight) >= 700) ? 3 : 4.5;
    const isDisabled = element.closest(":disabled") !== null;
    if (!isDisabled && contrast(element) < least)
      faults.push(`pale, ${contrast(element).toFixed(2)}: ${nameOf(element)}`);
  }

  const isOver = (element: Element) => {
    for (let at: Element | null = element; at; at = at.parentElement)
      if (["fixed", "sticky"].includes(getComputedStyle(at).position) || at.matches("dialog, .menu-box"))
        return at;
    return null;
  };
  for (const [index, { element, box }] of texts.entries())
    for (const other of texts.slice(index + 1)) {
      const width = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
      const height = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
      if (width > 2 && height > 4 && isOver(element) === isOver(other.element))
        faults.push(`covered: ${nameOf(element)} and ${nameOf(other.element)}`);
    }

  for (const element of document.querySelectorAll("button, a, input, select, textarea, summary")) {
    if (isForReaders(element) || isCanvas(element)) continue;
    const rect = element.getBoundingClientRect();
    if (rect.width === 0 || rect.height === 0) continue;
    const { box } = seen(element, rect);
    if (box.right > box.left && (box.right > screen + 1 || box.left < -1))
      faults.push(`outside: ${nameOf(element)}`);
  }

  const pen = document.createElement("canvas").getContext("2d");
  for (const input of document.querySelectorAll("input")) {
    if (!pen || !input.placeholder || input.value !== "" || input.clientWidth === 0 || isForReaders(input))
      continue;
    const { font, paddingLeft, paddingRight } = getComputedStyle(input);
    pen.font = font;
    const room = input.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
    if (pen.measureText(input.placeholder).width > room) faults.push(`cut: ${input.placeholder}`);
  }
  for (const pages of document.querySelectorAll("nav.pages"))
    if (pages.scrollWidth > pages.clientWidth + 1) faults.push("cut: the pages of the top bar");

  const pills = [...document.querySelectorAll(".pill")].map((pill) => ({
    word: pill.querySelector(".pill-word")?.textContent ?? pill.textContent ?? "",
    tone: /tone-(\w+)/.exec(pill.className)?.[1] ?? "none",
  }));
  return { faults: [...new Set(faults)], pills };
}
