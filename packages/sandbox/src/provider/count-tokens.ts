/** Characters (Unicode code points) per token. */
const CHARACTERS_PER_TOKEN = 4;

/** Counts Unicode code points, so that an emoji counts once in every encoding. */
const countCharacters = (text: string): number => {
  let characters = 0;
  for (const _character of text) characters += 1;
  return characters;
};

/** Counts tokens: one per four characters, rounded up, at least one. */
export const countTokens = (text: string): number =>
  Math.max(1, Math.ceil(countCharacters(text) / CHARACTERS_PER_TOKEN));

/** Cuts a text to at most `tokensMax` tokens. */
export const cutToTokens = (text: string, tokensMax: number): string =>
  [...text].slice(0, tokensMax * CHARACTERS_PER_TOKEN).join('');
