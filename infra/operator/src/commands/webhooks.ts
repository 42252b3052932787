import { serviceOperations } from '@svc/contracts';
import type { Command } from '../command.ts';
import { UsageError } from '../operator-error.ts';

/** Commands for deliveries of webhooks. */
export const webhookCommands: readonly Command[] = [
  {
    words: ['webhooks', 'retry'],
    usage: '--blocked-since <RFC 3339> [--host <name>]',
    about: 'retry the failed events that block webhooks since a moment, of one receiver or of all',
    options: { 'blocked-since': { type: 'string' }, host: { type: 'string' } },
    run: async ({ call, print, values }) => {
      const sinceMs = Date.parse(String(values['blocked-since'] ?? ''));
      if (Number.isNaN(sinceMs)) throw new UsageError('--blocked-since is missing or no RFC 3339 time');
      const blocked_since = new Date(sinceMs).toISOString();
      const host = values['host'] === undefined ? null : String(values['host']);
      const retryAfter = async (after: string | null): Promise<number> => {
        const body = { blocked_since, host, after };
        const page = await call(serviceOperations.retryBlockedLanes, { body });
        for (const { owner_id, event_id } of page.data) print(`${owner_id}: ${event_id} is retried`);
        return page.data.length + (page.after === null ? 0 : await retryAfter(page.after));
      };
      print(`${await retryAfter(null)} events retried`);
      return true;
    },
  },
];
