import type { ToolDescriptor } from "@planwright/plan";
import type { ToolWords } from "../words/tool-words.ts";

/** One tool of a catalogue, read once for all queries. */
export interface IndexedTool {
  /** Its place in the catalogue. */
  readonly at: number;
  readonly tool: ToolDescriptor;
  readonly words: ToolWords;
  /** What its line in a prompt costs, with the line's end. */
  readonly tokens: number;
}
