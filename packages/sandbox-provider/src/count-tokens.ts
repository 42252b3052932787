/** Characters (Unicode code points) that make one token in the sandbox. */
const CHARACTERS_PER_TOKEN = 4;

/** Length of a text in Unicode code points, so that an emoji counts once whatever its encoding. */
const countCharacters = (text: string): number => {
  let characters = 0;
  for (const _character of text) characters += 1;
  return characters;
};

/** The sandbox's whole tokenizer: one token per four characters, rounded up, never less than one. */
export const countTokens = (text: string): number =>
  Math.max(1, Math.ceil(countCharacters(text) / CHARACTERS_PER_TOKEN));

/** Cuts a text to what fits in so many tokens, so that `max_tokens` is kept exactly. */
export const cutToTokens = (text: string, tokensMax: number): string =>
  [...text].slice(0, tokensMax * CHARACTERS_PER_TOKEN).join('');
