import type { ToolDescriptor } from "@planwright/plan";
import type { ToolWords } from "../words/tool-words.ts";

/** One tool of a catalogue, analysed once for all queries. */
export interface IndexedTool {
  /** Its index in the catalogue. */
  readonly at: number;
  readonly tool: ToolDescriptor;
  readonly words: ToolWords;
  /** Tokens of its line in a prompt, with the end of the line. */
  readonly tokens: number;
}
