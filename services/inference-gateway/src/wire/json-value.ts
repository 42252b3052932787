import { UpstreamFailure } from '../upstream-failure.ts';

/** Returns true for an object that is not an array. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns false for a value that says nothing: null, and an empty text, list or object. It counts as absent. */
export const isSet = (value: unknown): boolean => {
  if (value === undefined || value === null || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
};

/** Parses an object that a provider sent. Throws UpstreamFailure `garbled` for anything else. */
export const parseRecord = (text: Buffer): Record<string, unknown> => {
  const value = parseJson(text);
  if (!isRecord(value)) throw new UpstreamFailure('garbled');
  return value;
};

/** Parses a value that a provider sent. Throws UpstreamFailure `garbled` for text that is not JSON. */
export const parseJson = (text: Buffer): unknown => {
  try {
    return JSON.parse(text.toString());
  } catch {
    // The error is not kept as the cause: its message would quote the answer.
    throw new UpstreamFailure('garbled');
  }
};

/** Returns a name or id from a provider if it is short and printable, else null. */
export const recordableName = (value: unknown): string | null =>
  typeof value === 'string' && /^[\x20-\x7e]{1,256}$/.test(value) ? value : null;
