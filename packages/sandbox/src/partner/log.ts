/** Writes one line of JSON. Messages contain no secrets, tokens or user content. */
export type Log = (level: 'info' | 'warn' | 'error', message: string, fields?: Record<string, string | number>) => void;

/** Creates a log on a line writer, such as standard output. */
export const createLog =
  (write: (line: string) => void): Log =>
  (level, message, fields = {}) => {
    const time = new Date().toISOString();
    write(`${JSON.stringify({ level, time, service: 'sample-partner', message, ...fields })}\n`);
  };

/** Describes an error and its causes in one line. */
export const describeError = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${describeError(error.cause)}`;
};
