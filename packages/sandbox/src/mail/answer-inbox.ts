import type { IncomingMessage, ServerResponse } from 'node:http';
import { defineStyle, html, type Page, pagePolicy, renderPage, THEME } from '@svc/pages';
import type { Inbox, InboxMail } from './inbox.ts';

const STYLE = defineStyle(
  THEME,
  `main { max-width: 48rem; margin: 0 auto; padding: 2rem 1rem }
article { margin: 1rem 0; padding: 1rem; border: 1px solid currentColor; border-radius: .75rem; overflow-wrap: anywhere }
pre { white-space: pre-wrap; font: inherit }
small { opacity: .75 }`,
);

const MAILS_PER_ANSWER = 100;
const ADDRESS_CHARACTERS_MAX = 254;

/** Serves the inbox: a page at `/sandbox/mail`, and JSON at `/sandbox/mail/messages`. */
export const answerInbox = (inbox: Inbox, req: IncomingMessage, res: ServerResponse): void => {
  const url = URL.parse(req.url ?? '', 'http://localhost');
  const to = url?.searchParams.get('to')?.slice(0, ADDRESS_CHARACTERS_MAX) ?? undefined;
  res.setHeader('cache-control', 'no-store');
  res.setHeader('x-content-type-options', 'nosniff');
  if (req.method !== 'GET' && req.method !== 'HEAD') {
    answerJson(res, 405, { detail: { code: 'method_not_allowed', message: 'The inbox is only read.' } });
  } else if (url?.pathname === '/sandbox/mail/messages') {
    answerJson(res, 200, { data: inbox.list({ to, limit: MAILS_PER_ANSWER }) });
  } else if (url?.pathname === '/sandbox/mail') {
    const page = inboxPage(inbox.list({ to, limit: MAILS_PER_ANSWER }), to);
    const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': pagePolicy(page.style) };
    res.writeHead(200, headers).end(renderPage(page));
  } else if (url?.pathname === '/healthz') {
    answerJson(res, 200, { status: 'ok' });
  } else {
    answerJson(res, 404, { detail: { code: 'not_found', message: 'There is nothing at this address.' } });
  }
};

const answerJson = (res: ServerResponse, status: number, body: object): void => {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

/** Returns the page of the inbox. Mails appear as text, so that no mail can put markup into it. */
const inboxPage = (mails: readonly InboxMail[], to: string | undefined): Page => ({
  locale: 'en',
  title: 'Sandbox mail',
  style: STYLE,
  body: html`<main>
<h1>Sandbox mail</h1>
<p>Mails of this machine${to !== undefined && html` to ${to}`}, newest first. None leaves it.</p>
${mails.length === 0 && html`<p>No mail yet.</p>`}
${mails.map(articleOf)}
</main>`,
});

const articleOf = (mail: InboxMail) => html`<article>
<h2>${mail.subject}</h2>
<small>to <a href="/sandbox/mail?to=${encodeURIComponent(mail.to)}">${mail.to}</a>, ${mail.created_at}</small>
<pre>${mail.text}</pre>
${mail.links.map((link) => html`<p><a href="${link}">${link}</a></p>`)}
</article>`;
