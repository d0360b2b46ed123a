/** Characters that a terminal may act on when they are pasted, or that make a text look like another one. */
const NOT_PLAIN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

/**
 * The words as one line for a shell, to be printed or copied. The shell reads exactly these words, and executes
 * none of them, whatever they contain. The line has no control characters and no characters that are invisible
 * or change the direction of writing: such a word is written with escapes (`$'a\nb'`), which bash, zsh, ksh and
 * POSIX 2024 read; an older shell reads another word, and executes nothing of it either.
 */
export function commandLine(...words: string[]): string {
  return words.map(shellWord).join(" ");
}

function shellWord(word: string): string {
  // A first "=" is an expansion of zsh.
  if (/^[\w@%+:,./-][\w@%+=:,./-]*$/.test(word)) return word;
  return NOT_PLAIN.test(word) ? escapedWord(word) : `'${word.replaceAll("'", "'\\''")}'`;
}

function escapedWord(word: string): string {
  const escaped = word.replace(/[\\'\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (found) => {
    const code = found.codePointAt(0) ?? 0;
    if (found === "\\" || found === "'") return `\\${found}`;
    // Octal and the long form have a fixed number of digits: the next character is not read as one of them.
    return code < 0x80
      ? `\\${code.toString(8).padStart(3, "0")}`
      : `\\U${code.toString(16).padStart(8, "0")}`;
  });
  return `$'${escaped}'`;
}
