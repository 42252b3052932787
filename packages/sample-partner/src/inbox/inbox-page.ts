import { type Html, html, renderPage } from '../pages/index.ts';
import type { InboxEntry } from './inbox.ts';

/** What the page shows. */
export interface InboxPage {
  readonly entries: readonly InboxEntry[];
  readonly svcUserId: string | undefined;
  readonly webhookUrl: string;
}

/** The webhook inbox. The script of the page swaps `#inbox` when something comes. */
export const renderInboxPage = ({ entries, svcUserId, webhookUrl }: InboxPage): string =>
  renderPage({
    title: 'Webhook inbox',
    svcUserId,
    main: html`<h1>Webhook inbox</h1>
<p>The service delivers this app’s events to <code>${webhookUrl}</code>; the SDK verifies each signature before anything is read.
Deliveries of other apps may go to <code>${webhookUrl}/any</code>: they are shown as they come, and believed by nobody.</p>
<section id="inbox" aria-label="Deliveries" data-live data-last="${entries[0]?.id ?? 0}">
${entries.length === 0 ? html`<p class="empty">Nothing has come yet. Connect, or change your subscription at the service, and watch.</p>` : entryTable(entries, svcUserId)}
</section>
<p>For terminals: <a href="/inbox.json"><code>/inbox.json</code></a>.</p>`,
  });

const entryTable = (entries: readonly InboxEntry[], svcUserId: string | undefined): Html => html`<table>
<thead><tr><th scope="col">Event</th><th scope="col">Sequence</th><th scope="col">Received</th><th scope="col">Verified</th><th scope="col">About</th></tr></thead>
<tbody>
${entries.map((entry) => entryRow(entry, svcUserId))}
</tbody>
</table>`;

const entryRow = (entry: InboxEntry, svcUserId: string | undefined): Html => {
  const { envelope, isVerified, raw, receivedAt } = entry;
  const about = envelope?.user?.svc_user_id;
  const details =
    raw === undefined ? JSON.stringify(envelope, null, 2) : `X-Svc-Signature: ${raw.signature}\n\n${raw.body}`;
  return html`<tr data-event="${envelope?.event ?? ''}" data-verified="${isVerified ? 'yes' : 'no'}">
<td data-label="Event"><details><summary>${envelope?.event ?? 'no event'}</summary><pre tabindex="0">${details}</pre></details></td>
<td data-label="Sequence">${envelope?.sequence ?? '–'}</td>
<td data-label="Received"><time datetime="${receivedAt.toISOString()}">${receivedAt.toISOString().slice(0, 19).replace('T', ' ')} UTC</time></td>
<td data-label="Verified">${isVerified ? html`<strong class="good">verified</strong>` : 'not verified'}</td>
<td data-label="About">${about === undefined ? '–' : about === svcUserId ? 'you' : html`<code>${about}</code>`}</td>
</tr>`;
};
