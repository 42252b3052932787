const WORD_CHARACTERS_MIN = 3;

/** Facts about the owner of a password. */
export interface PasswordOwner {
  readonly email: string;
  readonly displayName: string | null;
  readonly businessName: string | null;
}

/** Returns the texts that a person's password must not be made of: address and names, and the words in them. */
export const passwordContext = ({ email, displayName, businessName }: PasswordOwner): string[] => {
  const given = [email, displayName, businessName].filter((text) => text !== null).filter((text) => text !== '');
  const texts = given.map((text) => text.toLowerCase());
  const words = texts.flatMap((text) => [...text.split('@'), ...text.split(/[^\p{L}\p{N}]+/u)]);
  return [...new Set(['svc', ...texts, ...words.filter((word) => word.length >= WORD_CHARACTERS_MIN)])];
};
