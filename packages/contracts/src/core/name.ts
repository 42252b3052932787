import { z } from 'zod';

/**
 * Characters that make a text read otherwise than it is written: controls, line and paragraph separators, and the
 * bidirectional embeddings, overrides and isolates of UAX #9. A tab or a line break is fine in a description.
 */
const DISGUISE = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;
const DISGUISE_IN_LINES = /[^\P{Cc}\t\n\r]|[\u202a-\u202e\u2066-\u2069]/u;
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;

const MESSAGE = 'must not contain control characters or marks that change the direction of text';

/** Returns false if a line of text could read otherwise than it is written. */
export const isPlain = (text: string): boolean => !DISGUISE.test(text);

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
    .refine((text) => !DISGUISE_IN_LINES.test(text), { message: MESSAGE });
