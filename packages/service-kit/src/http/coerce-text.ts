import type { z } from 'zod';
import { schemaType } from './schema-at.ts';

const INTEGER_OR_DECIMAL = /^-?\d{1,16}(\.\d{1,16})?$/;

/**
 * Converts query or form texts to the schema's types: "50" to a number, "true" to a boolean. Other texts stay as they
 * are, so that validation reports the wrong type.
 */
export const coerceText = (schema: z.ZodObject, texts: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const values: Record<string, unknown> = { ...texts };
  for (const [name, member] of Object.entries(schema.shape)) {
    const text = values[name];
    if (typeof text === 'string') values[name] = coerce(schemaType(member), text);
  }
  return values;
};

const coerce = (type: string, text: string): unknown => {
  if (type === 'number' && INTEGER_OR_DECIMAL.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return type === 'array' ? [text] : text;
};
