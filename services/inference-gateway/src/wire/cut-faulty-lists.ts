import { isRecord } from './json-value.ts';

/** Items that are told of; a body of 32 MiB could have millions, and each that is named takes a thousand times its own memory. */
const FAULTY_MAX = 100;

const isText = (item: unknown): boolean => typeof item === 'string';
/** The lists whose items the contract judges, and what they are to be. */
const ITEMS = Object.entries({ messages: isRecord, tools: isRecord, stop: isText });

/**
 * Cuts the lists of a request behind their hundredth item of a wrong type, so that judging them takes no more than that. The request
 * is refused in any case.
 */
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
