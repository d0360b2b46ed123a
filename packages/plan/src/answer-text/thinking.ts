const NAMES = "think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis";
/** At the beginning of a line: inside a text of the plan the same words would be data. */
const OPENING = new RegExp(`(?:^|\\n)[ \\t]*(?:<(${NAMES})>|(\\[THINK\\])|(◁think▷))`, "gi");
/**
 * An end without a beginning, which some chat templates put into the prompt. Only what begins or ends a line
 * can be one.
 */
const LONE_END = new RegExp(`(?:</(?:${NAMES})>|\\[/THINK\\]|◁/think▷)[ \\t]*(?=\\r?\\n|[{[\`]|$)`, "gi");
/** How models of the harmony format mark what is meant for the user. */
const FINAL_CHANNEL = "<|channel|>final<|message|>";

/** What a model says aloud, without what it thought. */
export interface Said {
  readonly text: string;
  /** False when the answer ends in the middle of a thought, or behind it. */
  readonly isComplete: boolean;
}

/**
 * Removes the thinking that models put between tags; the model itself has rejected the plans that it drafted
 * there.
 */
export function withoutThinking(answer: string): Said {
  const final = answer.lastIndexOf(FINAL_CHANNEL);
  if (final !== -1) return { text: answer.slice(final + FINAL_CHANNEL.length), isComplete: true };
  let said = "";
  let from = 0;
  OPENING.lastIndex = 0;
  for (let open = OPENING.exec(answer); open; open = OPENING.exec(answer)) {
    const closing = closingOf(open);
    const end = indexOfIgnoringCase(answer, closing, OPENING.lastIndex);
    if (end === -1) return { text: "", isComplete: false };
    said += `${answer.slice(from, open.index)}\n`;
    from = end + closing.length;
    OPENING.lastIndex = from;
  }
  const text = behindLoneEnd(said + answer.slice(from));
  return { text, isComplete: text.trim() !== "" || answer.trim() === "" };
}

function closingOf([, name, mistral]: RegExpExecArray): string {
  if (name !== undefined) return `</${name}>`;
  return mistral === undefined ? "◁/think▷" : "[/THINK]";
}

function indexOfIgnoringCase(text: string, wanted: string, from: number): number {
  const pattern = new RegExp(wanted.replace(/[[\]/]/g, "\\$&"), "gi");
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? -1;
}

function behindLoneEnd(text: string): string {
  let from = 0;
  for (const end of text.matchAll(LONE_END)) from = end.index + end[0].length;
  return text.slice(from);
}
