import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/**
 * The caller's address. Each proxy appends what it saw to X-Forwarded-For, so with `hops` trusted proxies the entry that
 * many places from the right is the caller; anything further left was written by the caller and is not believed.
 */
export const clientAddress = (req: IncomingMessage, hops: number): string => {
  const direct = plainAddress(req.socket.remoteAddress ?? '');
  if (hops === 0) return direct;
  const header = req.headers['x-forwarded-for'];
  const entries = (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',').map((entry) => entry.trim());
  const entry = plainAddress(entries.at(-hops) ?? '');
  return isIP(entry) === 0 ? direct : entry;
};

const plainAddress = (address: string): string => (address.startsWith('::ffff:') ? address.slice(7) : address);
