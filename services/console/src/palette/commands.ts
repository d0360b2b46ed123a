/** A command of the command palette. */
export interface Command {
  id: string;
  label: string;
  /** The group of the command, such as "Pages" or "This request". */
  group: string;
  /** Shown after the label in quiet letters: a key, or what the command is for. */
  hint?: string;
  run: () => unknown;
  /** True for a command of the API: if it is refused, `run` resolves to null. */
  isAction?: boolean;
}

/** A complete request id. */
const REQUEST_ID = /^req_\d+_[a-z0-9]+$/u;

/**
 * The commands that match the typed text, in their order: each word must be in the label or the group. For a
 * request id the only command opens it; for any other text the last command searches for it.
 */
export function matching(
  commands: readonly Command[],
  typed: string,
  { openRequest, search }: { openRequest: (requestId: string) => unknown; search: (text: string) => unknown },
): Command[] {
  const text = typed.trim();
  if (REQUEST_ID.test(text))
    return [{ id: "open", label: `Open ${text}`, group: "Requests", run: () => openRequest(text) }];
  const words = text.toLowerCase().split(/\s+/u);
  const found = commands.filter(({ label, group }) => {
    const searched = `${group} ${label}`.toLowerCase();
    return words.every((word) => searched.includes(word));
  });
  if (text === "") return found;
  return [
    ...found,
    { id: "search", label: `Find requests with “${text}”`, group: "Requests", run: () => search(text) },
  ];
}
