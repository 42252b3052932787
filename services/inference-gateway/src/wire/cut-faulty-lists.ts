import { isRecord } from './json-value.ts';

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
