import pg from 'pg';

const INT8 = 20;
const DATE = 1082;
const INT8_ARRAY = 1016;

/**
 * Parsers for our connections only, since the whole process shares the driver's own table. Money is integer micros, so
 * `int8` becomes a number, and a value beyond 2^53 - 1 throws.
 */
export const typeParsers = {
  getTypeParser(typeId: number, format?: string): (value: string) => unknown {
    if (typeId === INT8) return parseInt8;
    if (typeId === INT8_ARRAY) return parseInt8Array;
    if (typeId === DATE) return (value) => value;
    return pg.types.getTypeParser(typeId, format === 'binary' ? 'binary' : 'text');
  },
};

const parseInt8 = (text: string): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} does not fit a number`);
  return value;
};

const parseInt8Array = (text: string): (number | null)[] => {
  const inner = text.slice(1, -1);
  if (inner === '') return [];
  return inner.split(',').map((item) => (item === 'NULL' ? null : parseInt8(item)));
};
