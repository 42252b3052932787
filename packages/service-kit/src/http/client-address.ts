import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/**
 * Returns the caller's address. Each proxy appends its peer to X-Forwarded-For, so with `hops` trusted proxies the
 * caller is that many entries from the right. Entries further left come from the caller and are not trusted.
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
