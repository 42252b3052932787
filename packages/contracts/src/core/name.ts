import { z } from 'zod';

/** Control and format characters and line breaks, except the two joiners that emoji and some scripts need. */
const HIDDEN = /(?!\u200c|\u200d)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
/** The same, except what separates lines and columns. */
const HIDDEN_IN_LINES = /(?!\u200c|\u200d|[\t\n\r])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;

const MESSAGE = 'must not contain hidden characters';

/** Returns false if a line of text could read otherwise than it is written. */
export const isPlain = (text: string): boolean => !HIDDEN.test(text);

/** One line of text that other people read, such as the name of an app, up to `max` characters. */
export const nameSchema = (max: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(max)
    .refine(isPlain, { message: MESSAGE })
    .refine((text) => text === '' || VISIBLE.test(text), { message: 'must contain a visible character' });

/** Lines of text that other people read, up to `max` characters. */
export const descriptionSchema = (max: number) =>
  z
    .string()
    .max(max)
    .refine((text) => !HIDDEN_IN_LINES.test(text), { message: MESSAGE });
