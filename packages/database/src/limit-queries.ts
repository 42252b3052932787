import type { DriverCallback, DriverConnection, DriverQuery } from './driver-connection.ts';

/**
 * Ends a connection on which a query was not answered in time: the server's own limit is worth nothing where the server does not
 * answer at all, and nothing that was to follow may run later. The query fails with `Query read timeout`, as with the driver's
 * own limit; that one hangs a second callback on each query, and queries so changed stay in memory until a full
 * collection (docs/adr/0006).
 */
export const limitQueries = (connection: DriverConnection, timeoutMs: number): void => {
  const ask = connection.query.bind(connection);
  const askInTime = (query: DriverQuery, callback: DriverCallback): void => {
    let isAnswered = false;
    const answer: DriverCallback = (error, result) => {
      if (isAnswered) return;
      isAnswered = true;
      clearTimeout(timer);
      callback(error, result);
    };
    const timer = setTimeout(() => {
      answer(new Error('Query read timeout'));
      connection.end().catch(() => undefined);
    }, timeoutMs);
    ask(query, answer);
  };
  connection.query = (query, callback) => {
    if (callback !== undefined) return askInTime(query, callback);
    return new Promise((resolve, reject) => {
      askInTime(query, (error, result) => {
        if (error) reject(error);
        else resolve(result);
      });
    });
  };
};
