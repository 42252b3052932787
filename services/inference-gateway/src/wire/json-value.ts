import { UpstreamFailure } from '../upstream-failure/index.ts';

/** Whether a value is an object that is no list. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parses an object that a provider sent. Throws UpstreamFailure `garbled` for anything else. */
export const parseRecord = (text: Buffer): Record<string, unknown> => {
  let value: unknown;
  try {
    value = JSON.parse(text.toString());
  } catch {
    // Not as the cause: its message would quote the answer.
    throw new UpstreamFailure('garbled');
  }
  if (!isRecord(value)) throw new UpstreamFailure('garbled');
  return value;
};

/** A name that a provider gives, if it is fit to be recorded: short and printable. */
export const recordableName = (value: unknown): string | null =>
  typeof value === 'string' && /^[\x20-\x7e]{1,256}$/.test(value) ? value : null;
