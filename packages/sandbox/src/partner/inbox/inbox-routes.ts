import { type Request, Router } from 'express';
import { textsOf } from '../texts/index.ts';
import type { Inbox, InboxEntry } from './inbox.ts';
import { renderInboxPage } from './inbox-page.ts';

const WAIT_SECONDS_MAX = 30;

export interface InboxRoutesDeps {
  readonly inbox: Inbox;
  readonly webhookUrl: string;
  /** Returns the connected user of the browser. */
  readonly svcUserIdOf: (request: Request) => string | undefined;
  readonly clientId: () => string | undefined;
}

/**
 * Serves the inbox as a page, and as JSON for terminals. It shows the events of all users because this is a
 * demonstration; a real partner must not.
 */
export const inboxRoutes = ({ inbox, webhookUrl, svcUserIdOf, clientId }: InboxRoutesDeps): Router =>
  Router()
    .get('/inbox', (request, response) => {
      const svcUserId = svcUserIdOf(request);
      response.send(renderInboxPage({ texts: textsOf(request), entries: inbox.list(), svcUserId, webhookUrl }));
    })
    .get('/inbox.json', async (request, response) => {
      const wait = new AbortController();
      const seconds = Math.min(readNumber(request.query['wait_seconds']), WAIT_SECONDS_MAX);
      const timer = setTimeout(() => wait.abort(), seconds * 1000);
      response.once('close', () => wait.abort());
      const integrationId = request.query['integration_id'];
      const filter = {
        after: readNumber(request.query['after']),
        integrationId: typeof integrationId === 'string' ? integrationId : undefined,
      };
      const entries = await inbox.waitFor(filter, wait.signal);
      clearTimeout(timer);
      response.json({
        client_id: clientId() ?? null,
        webhook_url: webhookUrl,
        any_webhook_url: `${webhookUrl}/any`,
        forward_webhook_url: `${webhookUrl}/to/{port}`,
        data: entries.map(toJson),
      });
    });

const readNumber = (text: unknown): number => (typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : 0);

const toJson = ({ id, receivedAt, isVerified, envelope, raw }: InboxEntry): object => ({
  id,
  received_at: receivedAt.toISOString(),
  verified: isVerified,
  envelope,
  ...(raw === undefined ? {} : { signature: raw.signature, headers: raw.headers, raw_body: raw.body }),
});
