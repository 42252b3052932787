import { scanArray, scanObject } from './json-members.ts';

const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;

/** Offsets of a value in a JSON text. The end is exclusive. */
export interface ValueSpan {
  readonly start: number;
  readonly end: number;
}

/** Finds the value at a path of member names, from the object at `start`. The last member of a name counts. */
export const findValue = (bytes: Buffer, start: number, path: readonly string[]): ValueSpan | undefined => {
  let span: ValueSpan = { start, end: bytes.length };
  for (const name of path) {
    if (bytes[span.start] !== OPEN_BRACE) return undefined;
    const member = scanObject(bytes, span.start, new Set([name])).members.at(-1);
    if (member === undefined) return undefined;
    span = { start: member.valueStart, end: member.valueEnd };
  }
  return span;
};

/** Returns the elements of the list at a path, from the object at `start`; none if there is no list. */
export const findElements = (bytes: Buffer, start: number, path: readonly string[]): readonly ValueSpan[] => {
  const span = findValue(bytes, start, path);
  return span === undefined || bytes[span.start] !== OPEN_BRACKET ? [] : scanArray(bytes, span.start);
};

/** Returns the offset of the object that a JSON text consists of. */
export const rootStart = (bytes: Buffer): number => scanObject(bytes, 0, new Set()).open;

/** Returns a value as it is written: numbers, order and repeated members stay as they are. */
export const textOfValue = (bytes: Buffer, { start, end }: ValueSpan): string => bytes.toString('utf8', start, end);
