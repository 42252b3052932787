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
    // The error is not kept as the cause: its message would quote the response.
    throw new UpstreamFailure('garbled');
  }
};

/** Returns a name or id from a provider if it is short and printable, else null. */
export const recordableName = (value: unknown): string | null =>
  typeof value === 'string' && /^[\x20-\x7e]{1,256}$/.test(value) ? value : null;

/** Limit of invalid items. The issue for each takes a thousand times its memory, and a body may have half a million. */
const FAULTY_MAX = 100;

const isText = (item: unknown): boolean => typeof item === 'string';
/** Lists whose items the contract checks. */
const ITEMS = Object.entries({ messages: isRecord, tools: isRecord, stop: isText });

/** Truncates lists after their hundredth invalid item, to limit the cost of validating a request that is refused anyway. */
export const cutFaultyLists = (body: unknown): void => {
  if (!isRecord(body)) return;
  for (const [name, fits] of ITEMS) {
    const list = body[name];
    if (!Array.isArray(list)) continue;
    let faulty = 0;
    const last = list.findIndex((item: unknown) => {
      if (!fits(item)) faulty += 1;
      return faulty === FAULTY_MAX;
    });
    if (last !== -1) list.length = last + 1;
  }
};
