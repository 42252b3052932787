import type { IncomingMessage } from 'node:http';

/** Returns true if the `Accept` header lists CSV, and not JSON before it. */
export const prefersCsv = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean => {
  const types = (headers.accept ?? '').split(',').map((part) => part.split(';', 1)[0]?.trim().toLowerCase());
  const place = types.indexOf('text/csv');
  const json = types.indexOf('application/json');
  return place !== -1 && (json === -1 || place < json);
};
