import { stem, type ToolWords, wordsOf } from "@planwright/models/words";
import { distance } from "fastest-levenshtein";

/** Names of at most three tools whose words come closest to a clause, the nearest first. */
export function nearestTools(clause: string, catalogue: readonly ToolWords[]): string[] {
  const said = wordsOf(clause, 40).map(stem);
  return catalogue
    .slice(0, 1_000)
    .map((words) => ({ name: words.tool.name, score: closeness(words, said) }))
    .filter(({ score }) => score > 0)
    .toSorted((left, right) => right.score - left.score)
    .slice(0, 3)
    .map(({ name }) => name);
}

function closeness(words: ToolWords, said: readonly string[]): number {
  const score = (own: readonly string[], weight: number) =>
    own.reduce((sum, word) => sum + weight * Math.max(0, ...said.map((each) => likeness(each, word))), 0);
  const named = score([...words.verbs.slice(0, 1), ...words.nouns], 1) / (words.nouns.length + 1);
  return named + score(words.describedNouns, 0.5) / (words.describedNouns.length + 1);
}

/** Letters of a word that are compared. */
const MAX_LENGTH = 40;

/** 1 for the same word, 0.6 for one typing mistake in a word of four letters or more, else 0. */
function likeness(said: string, word: string): number {
  if (said === word) return 1;
  return said.length >= 4 &&
    Math.abs(said.length - word.length) <= 2 &&
    distance(said.slice(0, MAX_LENGTH), word.slice(0, MAX_LENGTH)) <= 2
    ? 0.6
    : 0;
}
