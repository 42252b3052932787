import type { IncomingMessage } from 'node:http';

const CSV = 'text/csv';
const JSON_TYPE = 'application/json';

/** Returns the media types that a header names and does not refuse, the preferred ones first (RFC 9110 section 12.5.1). */
const acceptedTypes = (header: string): readonly string[] =>
  header
    .toLowerCase()
    .split(',')
    .map((range) => {
      const [type = '', ...parameters] = range.split(';');
      const weight = parameters.map((each) => /^\s*q=([\d.]+)\s*$/.exec(each)?.[1]).find((each) => each !== undefined);
      return { type: type.trim(), weight: Number(weight ?? 1) };
    })
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight)
    .map(({ type }) => type);

/** Returns true if the `Accept` header names CSV, and prefers it to JSON. */
export const prefersCsv = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  acceptedTypes(headers.accept ?? '').find((type) => type === CSV || type === JSON_TYPE) === CSV;
