import { z } from 'zod';
import { claimsToBeProduct } from './product-claim.ts';

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
