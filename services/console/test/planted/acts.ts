import type { CountingToolServer, WholeSystem } from "@planwright/testing";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { type ConsoleView, SCREEN } from "../console-system.ts";

type Script = Parameters<CountingToolServer["script"]>[0];

/** No further attempt. */
export const ONCE = { maxAttempts: 1 };
/** The button that makes a new version and runs the steps that did not complete. */
export const RERUN = "Run again what did not complete";
/** The button that opens the plan at the desk. */
export const DESK = "Change the plan at the desk";
/** Runs the steps again that did not complete. */
export const RUN_AGAIN: Act = (page) => press(page, RERUN);

/** The system as processes, one of which a fault kills, with a browser. */
export type PlantedSystem = WholeSystem & ConsoleView;

/** What a user does when the cause is known. */
export type Act = (page: Page, requestId: string, apiUrl: string) => Promise<unknown>;

/** A fault, its texts on the first screen, the action of the user, and how the request ends. */
export interface Problem {
  name: string;
  script?: Script;
  steps?: readonly object[];
  /** False only stores the plan. Default true. */
  execute?: boolean;
  /** Causes a fault that needs more than a script and steps; returns the id of the request. */
  plant?: (system: PlantedSystem) => Promise<string>;
  /** The status of the request when it is opened. Default FAILED. */
  planted?: string;
  /** The version of the request when it is opened. Default 1. */
  version?: number;
  /** The cause that the first screen shows. */
  cause: string;
  /** The button that the first screen shows. */
  action: string;
  act: Act;
  /** How the last shown request ends. */
  end: [status: string, version: number];
}

/** A step that reads. */
export const read = (value: unknown, id = "look") => ({ id, tool: "read_value", arguments: { value } });
/** A step with an effect, tried once. */
export const act = (value: unknown, more: object = {}) => ({
  id: "act",
  tool: "keyed_effect",
  arguments: { value },
  retry: ONCE,
  ...more,
});
/** The next call of keyed_effect is refused. */
export const refusal = (message: string): Script => ({ keyed_effect: [{ type: "tool-error", message }] });
/** A step that needs an approval. */
export const ask = (id = "ask") => ({ id, tool: "keyed_effect", arguments: { value: id }, approval: true });
/** The answer of the next call of plain_effect is lost. */
export const doubt: Script = { plain_effect: [{ type: "lose-answer" }] };
/** A step whose call can be in doubt. */
export const pay = { id: "pay", tool: "plain_effect", arguments: { value: 7 } };
/** A list of sequential calls; failed items are collected. */
export const each = (items: unknown[], tool = "keyed_effect") => ({
  id: "each",
  retry: ONCE,
  forEach: { items, concurrency: 1, errors: "collect", do: { tool, arguments: { value: "<<item>>" } } },
});

/** Presses the first button of this name. */
export async function press(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name, exact: true }).first().click();
}

/** Approves the shown call. */
export async function approve(page: Page): Promise<void> {
  await press(page, "Look at the call and decide");
  await press(page, "Approve: the tool is called");
}

/** Settles the call in doubt of a step. */
export const settle =
  (choice: string, { output = "", reason = "" } = {}): Act =>
  async (page) => {
    await press(page, "Look at the call and say what happened");
    await page.getByLabel("to confirm").fill("pay");
    if (output) await page.getByLabel("What the call returned").fill(output);
    if (reason) await page.getByLabel("Why the step shall fail").fill(reason);
    await press(page, choice);
  };

/** Writes another plan at the desk and executes it. */
export const rewrite =
  (button: string, ...steps: object[]): Act =>
  async (page) => {
    await press(page, DESK);
    await write(page, ...steps);
    await press(page, button);
  };

/** Replaces the plan at the desk, and waits until the new one is checked. */
export async function write(page: Page, ...steps: readonly object[]): Promise<void> {
  await page.waitForURL(/\/desk\/req_/);
  await page.getByRole("textbox", { name: "Plan as JSON" }).click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(JSON.stringify({ steps }, null, 2));
  await page.getByText("It can run").waitFor();
}

/** Fails when a text is not visible without scrolling. */
export async function expectInSight(page: Page, text: string): Promise<void> {
  const place = page.getByText(text).first();
  await place.waitFor();
  // The text may still move while the page is drawn.
  await expect
    .poll(async () => {
      const box = await place.boundingBox();
      return box !== null && box.y >= 0 && box.y < SCREEN.height;
    })
    .toBe(true);
}
