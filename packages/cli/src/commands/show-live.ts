import type { FollowOptions, RequestRun } from "@planwright/client";
import { progressTree } from "../report/progress-tree.ts";
import { oneLine } from "../terminal/visible-text.ts";
import type { CommandContext } from "./command-context.ts";

const FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const FRAME_MS = 100;

/** Follows a request on a terminal with a tree that is redrawn while it runs and removed at the end. */
export async function showLive(
  { client, output, signal, now }: CommandContext,
  requestId: string,
  follow: FollowOptions = {},
): Promise<void> {
  const view = await output.live();
  const { style } = output;
  let request: RequestRun | undefined;
  let trouble: string | undefined;
  let frame = 0;
  const draw = () => {
    const spinner = FRAMES[frame++ % FRAMES.length] ?? "";
    // One line is left for the cursor, one for a trouble message.
    const maxLines = Math.max(3, output.rows - 3);
    const lines = request
      ? progressTree(request, { style, nowMs: now(), maxLines, spinner })
      : [`${style("busy", spinner)} ${requestId}`];
    view.draw(trouble === undefined ? lines : [...lines, style("attention", trouble)]);
  };
  const timer = setInterval(draw, FRAME_MS);
  const onTrouble = (error: Error) => {
    trouble = `${oneLine(error.message, output.columns - 20)}; trying again`;
  };
  try {
    for await (const now of client.follow(requestId, { ...follow, signal, onTrouble })) {
      request = now;
      trouble = undefined;
      draw();
    }
  } finally {
    clearInterval(timer);
    view.clear();
  }
}
