import { type Html, html } from '@svc/pages';
import { type Request, Router } from 'express';
import { renderPage } from '../pages.ts';
import type { Texts } from '../texts/en.ts';
import { textsOf } from '../texts/view.ts';
import type { Inbox, InboxEntry } from './inbox.ts';

interface InboxPage {
  readonly texts: Texts;
  readonly entries: readonly InboxEntry[];
  readonly svcUserId: string | undefined;
  readonly webhookUrl: string;
}

/** Renders the webhook inbox. The page's script replaces `#inbox` when a delivery arrives. */
export const renderInboxPage = (page: InboxPage): string => {
  const { texts, entries, svcUserId, webhookUrl } = page;
  const { deliveries } = texts;
  return renderPage({
    texts,
    title: texts.inbox,
    svcUserId,
    main: html`<h1>${texts.inbox}</h1>
<p>${deliveries.own} <code>${webhookUrl}</code>${deliveries.verified}
${deliveries.others} <code>${webhookUrl}/any</code>${deliveries.shown} <code>${webhookUrl}/to/3000</code>
${deliveries.forwards} <code>http://127.0.0.1:3000/webhooks</code>.</p>
<section id="inbox" aria-label="${deliveries.label}" data-live data-last="${entries[0]?.id ?? 0}">
${entries.length === 0 ? html`<p class="empty">${deliveries.empty}</p>` : entryTable(page)}
</section>
<p class="hint">${deliveries.terminals} <a href="/inbox.json"><code>/inbox.json</code></a></p>`,
  });
};

const entryTable = (page: InboxPage): Html => {
  const { event, sequence, received, state, about } = page.texts.deliveries;
  return html`<table>
<thead><tr>${[event, sequence, received, state, about].map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>
<tbody>
${page.entries.map((entry) => entryRow(entry, page))}
</tbody>
</table>`;
};

const entryRow = (entry: InboxEntry, { texts: { deliveries }, svcUserId }: InboxPage): Html => {
  const { envelope, isVerified, raw, receivedAt } = entry;
  const about = envelope?.user?.svc_user_id;
  const details =
    raw === undefined ? JSON.stringify(envelope, null, 2) : `X-Svc-Signature: ${raw.signature}\n\n${raw.body}`;
  return html`<tr data-event="${envelope?.event ?? ''}" data-verified="${isVerified ? 'yes' : 'no'}">
<td data-label="${deliveries.event}"><details><summary>${envelope?.event ?? deliveries.noEvent}</summary><pre tabindex="0">${details}</pre></details></td>
<td data-label="${deliveries.sequence}">${envelope?.sequence ?? '–'}</td>
<td data-label="${deliveries.received}"><time datetime="${receivedAt.toISOString()}">${receivedAt.toISOString().slice(0, 19).replace('T', ' ')} UTC</time></td>
<td data-label="${deliveries.state}">${isVerified ? html`<strong class="good">${deliveries.isVerified}</strong>` : deliveries.isNotVerified}</td>
<td data-label="${deliveries.about}">${about === undefined ? '–' : about === svcUserId ? deliveries.you : html`<code>${about}</code>`}</td>
</tr>`;
};

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
