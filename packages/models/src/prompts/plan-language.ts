import type { DraftInput } from "../draft/drafter.ts";

/**
 * The parts of the plan language that a request may need, in addition to calls, references and order. Each
 * part costs tokens of the prompt, so a prompt explains only the parts that the request's words may need.
 */
export interface PlanLanguage {
  /** `forEach`: a call for each item of a list in an earlier output. */
  loops: boolean;
  /** `when`: a step that runs only if an earlier result meets a condition. */
  conditions: boolean;
  /** `outputs`: the choice of results. */
  outputs: boolean;
}

const LOOP_WORDS = words(
  "each every everyone everybody everything all any anyone both them they their those these whose per respectively " +
    "alle allen alles jede jeden jeder jedes tous toutes tout chaque todos todas cada tutti tutte ogni elke ieder iedere",
);
const CONDITION_WORDS = words(
  "if unless otherwise else whether when whenever while until till except only depending provided should but without not case " +
    "wenn falls sonst solange nur si sinon sauf seulement salvo siempre sino se altrimenti quando cuando als tenzij anders",
);
const OUTPUT_WORDS = words(
  "only just nothing merely solely tell give show report return answer " +
    "nur bloß seulement uniquement solo sólo solamente soltanto apenas somente alleen",
);
/** Words that end like a plural but are not plurals. */
const NO_PLURALS = words(
  "this does says needs always address status business access process less plus unless across previous various " +
    "yes its ours yours hers theirs thus news was has",
);
/** A verb follows these words: "it costs". */
const PRONOUNS = words("it he she that who which this");
const MIN_PLURAL = 4;

/** A letter of a script in which none of the words above is written. */
const OTHER_SCRIPT = /(?!\p{Script=Latin})\p{L}/u;

/**
 * The parts of the plan language that a request may need. Pure. In doubt a part is offered: an unnecessary
 * part costs some tokens, a missing part costs the plan. A replan may always use lists when the earlier plan
 * did. A repair is offered the parts that the last answer used or its diagnostics mention.
 */
export function planLanguage({
  query,
  repair,
  replan,
}: Pick<DraftInput, "query" | "repair" | "replan">): PlanLanguage {
  const requested = languageOfWords(`${query}\n${replan?.note ?? ""}`);
  const used = repair ? languageOfAnswer(repair) : NONE;
  const isList = replan?.steps.some((step) => step.isList) ?? false;
  return {
    loops: requested.loops || used.loops || isList,
    conditions: requested.conditions || used.conditions,
    outputs: requested.outputs || used.outputs,
  };
}

const NONE: PlanLanguage = { loops: false, conditions: false, outputs: false };

function languageOfWords(text: string): PlanLanguage {
  if (OTHER_SCRIPT.test(text)) return { loops: true, conditions: true, outputs: true };
  const tokens = text.match(/[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
  const lowerTokens = tokens.map((token) => token.toLowerCase());
  return {
    loops: lowerTokens.some((word, at) => LOOP_WORDS.has(word) || isOpenPlural(tokens, at)),
    conditions: lowerTokens.some((word) => CONDITION_WORDS.has(word)),
    outputs: lowerTokens.some((word) => OUTPUT_WORDS.has(word)),
  };
}

/**
 * A plural that neither names its things after it ("accounts 1001 and 1002") nor follows a number or a
 * pronoun ("36 months").
 */
function isOpenPlural(tokens: readonly string[], at: number): boolean {
  const word = tokens[at] ?? "";
  const isPlural = word.length >= MIN_PLURAL && /^\p{Ll}+s$/u.test(word) && !/(?:ss|us|is)$/.test(word);
  if (!isPlural || NO_PLURALS.has(word)) return false;
  const [before = "", next = ""] = [tokens[at - 1]?.toLowerCase(), tokens[at + 1]];
  return !/^\d/.test(before) && !PRONOUNS.has(before) && !/^[\p{Lu}\p{N}"'“‘:]/u.test(next);
}

/** The parts that the answer used, and those that its diagnostics mention. */
function languageOfAnswer({ previous, diagnostics }: NonNullable<DraftInput["repair"]>): PlanLanguage {
  const text = [previous, ...diagnostics.map(({ message, path }) => `${path ?? ""} ${message}`)].join("\n");
  return {
    loops: /for_?each/i.test(text),
    conditions: /\bwhen\b|condition/i.test(text),
    outputs: /\boutputs\b|output_steps/.test(text),
  };
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(" "));
}
