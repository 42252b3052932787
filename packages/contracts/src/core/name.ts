import { z } from 'zod';

/**
 * Letters that look like Latin ones and stay different in NFKC: Cyrillic, Greek and small capitals. Pairs of the
 * look-alike and the letter, for the letters of the words below.
 */
const LOOK_ALIKES = new Map(
  [
    'аa',
    'αa',
    'ᴀa',
    'ьb',
    'вb',
    'βb',
    'ʙb',
    'сc',
    'ϲc',
    'ᴄc',
    'ԁd',
    'ᴅd',
    'еe',
    'εe',
    'ᴇe',
    'ϝf',
    'ғf',
    'ꜰf',
    'һh',
    'ʜh',
    'іi',
    'ιi',
    'ıi',
    'ɪi',
    'ӏl',
    'ʟl',
    'мm',
    'ᴍm',
    'ոn',
    'ɴn',
    'оo',
    'οo',
    'σo',
    'ᴏo',
    'рp',
    'ρp',
    'ᴘp',
    'гr',
    'ʀr',
    'ѕs',
    'ꜱs',
    'тt',
    'τt',
    'ᴛt',
    'υu',
    'սu',
    'ᴜu',
    'νv',
    'ѵv',
    'ᴠv',
    'уy',
    'γy',
    'ʏy',
    'ᴢz',
  ].map((pair) => [[...pair][0], [...pair][1]] as const),
);
const A = 0x61;
/** First of 26 negative circled and of 26 negative squared capitals, which NFKC leaves as they are. */
const NEGATIVE_CAPITALS = [0x1f150, 0x1f170];
const ALPHABET = 26;

/** Symbols that say "verified" without a word: check marks, also in boxes and circles. */
const CHECK_MARK = /[\u2705\u2713\u2714\u2611\u237b\u{10102}\u{1f5f8}\u{1f5f9}\u{1fbb1}]/u;

const STATES = 'verified|official|certified|approved|verificat[oaie]|ufficial[ei]|certificat[oaie]|approvat[oaie]';
const PARTIES =
  'publisher|app|application|partner|developer|business|account|domain|editore|applicazione|sviluppatore|sviluppatrice|azienda|dominio';
/** Phrases that the product uses of an app or its publisher, in either order of the words. */
const CLAIM_ABOUT_PARTY = new RegExp(String.raw`\b(?:(?:${STATES}) (?:${PARTIES})|(?:${PARTIES}) (?:${STATES}))\b`);
/** A whole name, or its end, that reads like a badge. */
const BADGE = /(?:^|[\p{P}\p{S}] ?)(?:verified|official|verificat[oa]|ufficiale)[\p{P}\p{S} ]*$| verified$|^verified$/u;

/**
 * Returns true if a name claims what only the product may say: to be svc, or to be verified or official. Compares as
 * people read: without case, compatibility forms such as full-width letters, and look-alikes of other scripts. Words
 * within an ordinary name, such as "Official Charts Company", are no claim.
 */
const claimsToBeProduct = (name: string): boolean => {
  if (CHECK_MARK.test(name)) return true;
  const read = [...name.normalize('NFKC').toLowerCase()].map(toLatin).join('').replaceAll(/\s+/g, ' ').trim();
  const words = read.split(/[^\p{L}\p{M}\p{N}]+/u).filter((word) => word !== '');
  if (words.includes('svc') || / s v c /.test(` ${words.join(' ')} `)) return true;
  return CLAIM_ABOUT_PARTY.test(words.join(' ')) || BADGE.test(read);
};

const toLatin = (character: string): string => {
  const code = character.codePointAt(0) ?? 0;
  const first = NEGATIVE_CAPITALS.find((start) => code >= start && code < start + ALPHABET);
  if (first !== undefined) return String.fromCodePoint(A + code - first);
  return LOOK_ALIKES.get(character) ?? character;
};

/** Scripts whose letters join, and whose readers see the two joiners between them. */
const JOINING_SCRIPTS = [
  'Arabic',
  'Syriac',
  'Nko',
  'Mongolian',
  'Devanagari',
  'Bengali',
  'Gurmukhi',
  'Gujarati',
  'Oriya',
  'Tamil',
  'Telugu',
  'Kannada',
  'Malayalam',
  'Sinhala',
  'Tibetan',
  'Myanmar',
  'Khmer',
]
  .map((script) => String.raw`\p{Script=${script}}`)
  .join('');

/** Invisible characters that change how the character before them is drawn. */
const DRAWN = [
  // A joiner between two emoji, or after a letter that joins.
  String.raw`(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d(?=\p{Extended_Pictographic})`,
  String.raw`(?<=[${JOINING_SCRIPTS}]\p{M}*)[\u200c\u200d]`,
  // The choice between emoji and text, also in a keycap.
  String.raw`(?<=\p{Extended_Pictographic}\p{Emoji_Modifier}?)[\ufe0e\ufe0f]`,
  String.raw`(?<=[0-9#*])\ufe0f(?=\u20e3)`,
  // Variants of an ideograph or of a Mongolian letter.
  String.raw`(?<=\p{Script=Han})[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]`,
  String.raw`(?<=\p{Script=Mongolian})[\u180b-\u180d\u180f]`,
].join('|');

/**
 * Control and format characters, line breaks, and what is drawn as nothing. Unicode marks the last as default-ignorable,
 * except for a Braille pattern and a note head, which are symbols without ink.
 */
const INVISIBLE = String.raw`\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}`;
const HIDDEN = new RegExp(`(?!${DRAWN})[${INVISIBLE}]`, 'u');
/** The same, except what separates lines and columns. */
const HIDDEN_IN_LINES = new RegExp(String.raw`(?!${DRAWN}|[\t\n\r])[${INVISIBLE}]`, 'u');
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;

const MESSAGE = 'must not contain hidden characters';

/** Returns false if a line of text could read otherwise than it is written. */
const isPlain = (text: string): boolean => !HIDDEN.test(text);

/** One line of text that other people read, such as the name of a key, up to `max` characters. */
export const nameSchema = (max: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .refine(isPlain, { message: MESSAGE })
    .refine((text) => text === '' || !isPlain(text) || VISIBLE.test(text), {
      message: 'must contain a visible character',
    });

/** A name under which others appear to users: it must not claim what only the product may say. */
export const publicNameSchema = (max: number) =>
  nameSchema(max).refine((text) => !claimsToBeProduct(text), {
    message: 'must not claim to be svc, or to be verified or official',
  });

/** Lines of text that other people read, up to `max` characters. */
export const descriptionSchema = (max: number) =>
  z
    .string()
    .max(max)
    .refine((text) => !HIDDEN_IN_LINES.test(text), { message: MESSAGE });

/** An address of a person. Without quoted local parts and address literals (RFC 5321 section 4.1.2). */
export const emailSchema = z
  .string()
  .max(254)
  .regex(/^[^\s@"(),:;<>[\\\]]+@[^\s@"(),:;<>[\\\]]+\.[^\s@"(),:;<>[\\\]]+$/)
  .refine(isPlain, { message: 'must be a valid email address' });
