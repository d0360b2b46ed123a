import type { Tone } from "../terminal/style.ts";

/** Something to do, in words, or a command to type, or both. */
export interface NextStep {
  say: string;
  command?: string | undefined;
}

/** What is the matter with a request, in few words: this is what an operator reads first. */
export interface Diagnosis {
  tone: Tone;
  /** One line that names the cause. */
  cause: string;
  /** What is behind it; at most two lines, three for questions. */
  why: readonly string[];
  /** What to do, best first; at most two. */
  next: readonly NextStep[];
}
