import { hash } from 'node:crypto';
import { idOf } from '@svc/contracts';

/** Hexadecimal digits with which a UUID of version 7 (RFC 9562 section 5.7) tells its milliseconds. */
const TIME_DIGITS = 12;

/**
 * Returns the id of the event that a fact causes for an app. A dispatcher that reads the fact again after a restore
 * derives the same id, by which receivers know the event. Ids sort like their facts, which keeps the index compact.
 */
export const eventIdOf = (factId: string, clientId: string, event: string): string => {
  const timeMs = Number.parseInt(factId.replaceAll('-', '').slice(0, TIME_DIGITS), 16);
  return idOf('evt', timeMs, hash('sha256', `${factId} ${clientId} ${event}`, 'buffer'));
};
