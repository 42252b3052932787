/** Writes one line of JSON. Messages hold no secret, no token and nothing that users write. */
export type Log = (level: 'info' | 'warn' | 'error', message: string, fields?: Record<string, string | number>) => void;

/** Logs by writing lines, such as to standard output. */
export const createLog =
  (write: (line: string) => void): Log =>
  (level, message, fields = {}) => {
    const time = new Date().toISOString();
    write(`${JSON.stringify({ level, time, service: 'sample-partner', message, ...fields })}\n`);
  };

/** An error and what caused it, in one line. */
export const describeError = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${describeError(error.cause)}`;
};
