import { relative } from 'node:path';

/** Returns a path as the person who started the stack would write it. */
export const readablePath = (path: string): string => {
  const fromHere = relative(process.cwd(), path);
  return fromHere === '' || fromHere.startsWith('..') ? path : fromHere;
};
