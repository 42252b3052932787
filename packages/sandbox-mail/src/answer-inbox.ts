import type { IncomingMessage, ServerResponse } from 'node:http';
import { pagePolicy, renderPage } from '@svc/pages';
import type { Inbox } from './inbox.ts';
import { inboxPage } from './inbox-page.ts';

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
