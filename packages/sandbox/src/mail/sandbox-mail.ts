import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { defineStyle, type Html, html, type Page, pagePolicy, productMark, renderPage, THEME } from '@svc/pages';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';

/** A mail that the server has taken, for one recipient. */
export interface InboxMail {
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly links: readonly string[];
  readonly created_at: string;
}

/** Mails in memory; older ones are dropped. */
const MAILS_MAX = 5_000;

/** Keeps the mails that arrived, newest first. */
interface Inbox {
  /** Adds a mail, unless one with this id is there for the same recipient: mailboxes show a repeated `Message-ID` once. */
  readonly add: (mail: InboxMail) => void;
  /** Lists mails, newest first. */
  readonly list: (filter: { to: string | undefined; limit: number }) => readonly InboxMail[];
  /** Returns one recipient's copy of a mail. */
  readonly find: (mail: { id: string; to: string }) => InboxMail | undefined;
}

const createInbox = (): Inbox => {
  const mails = new Map<string, InboxMail>();
  return {
    add: (mail) => {
      const key = keyOf(mail);
      if (mails.has(key)) return;
      mails.set(key, mail);
      const [oldest] = mails.keys();
      if (mails.size > MAILS_MAX && oldest !== undefined) mails.delete(oldest);
    },
    list: ({ to, limit }) => {
      const address = to?.trim().toLowerCase();
      const found = [...mails.values()].filter((mail) => address === undefined || mail.to === address);
      return found.reverse().slice(0, limit);
    },
    find: (mail) => mails.get(keyOf(mail)),
  };
};

const keyOf = ({ to, id }: Pick<InboxMail, 'to' | 'id'>): string => `${to} ${id}`;

/** Splits a text at its addresses: every second part is one. */
const splitAtLinks = (text: string): string[] => text.split(/(https?:\/\/[^\s<>"]+)/);

const MAIL_BYTES_MAX = 5 * 1024 ** 2;
const CLIENTS_MAX = 50;
const SOCKET_TIMEOUT_MS = 60_000;

/** Creates an SMTP server (RFC 5321) that delivers every mail to the inbox and passes none on. */
const createMailReceiver = (inbox: Inbox): SMTPServer => {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    disableReverseLookup: true,
    size: MAIL_BYTES_MAX,
    maxClients: CLIENTS_MAX,
    socketTimeout: SOCKET_TIMEOUT_MS,
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      stream.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        // The rest of a mail that is too large is read and dropped.
        if (bytes <= MAIL_BYTES_MAX) chunks.push(chunk);
      });
      stream.on('end', () => {
        if (stream.sizeExceeded) {
          callback(Object.assign(new Error('The mail is too large'), { responseCode: 552 }));
          return;
        }
        const recipients = session.envelope.rcptTo.map(({ address }) => address);
        readMail(Buffer.concat(chunks), { recipients, id: randomUUID(), now: new Date() }).then((mails) => {
          for (const mail of mails) inbox.add(mail);
          callback();
        }, callback);
      });
    },
  });
  // A client that goes away is no fault of the server.
  server.on('error', () => undefined);
  return server;
};

/** Parses a mail as it came over SMTP, once for each recipient. */
const readMail = async (
  raw: Uint8Array,
  envelope: { recipients: readonly string[]; id: string; now: Date },
): Promise<InboxMail[]> => {
  const mail = await PostalMime.parse(raw);
  const text = mail.text ?? '';
  return envelope.recipients.map((recipient) => ({
    id: mail.messageId?.replace(/^<|>$/g, '') ?? envelope.id,
    to: recipient.toLowerCase(),
    subject: mail.subject ?? '',
    text,
    html: mail.html ?? '',
    links: [...new Set(splitAtLinks(text).filter((_, index) => index % 2 === 1))],
    created_at: envelope.now.toISOString(),
  }));
};

const STYLE = defineStyle(
  THEME,
  `main { width: 100%; max-width: 48rem; margin: 0 auto; padding: 1.5rem 1rem 3rem }
h1 { margin: 1.5rem 0 .25rem }
.lead, small, .closing { color: var(--text-soft) }
.lead { margin: 0 0 1.5rem }
article { margin: 0 0 1rem; padding: 1.25rem; background: var(--surface); border: 1px solid var(--line); border-radius: .75rem; overflow-wrap: anywhere }
h2 { margin: 0 0 .125rem; font-size: 1.125rem; font-weight: var(--weight-strong); line-height: 1.35 }
article p { margin: .75rem 0 0; white-space: pre-wrap }
.closing { font-size: var(--size-small) }`,
);

/**
 * Policy of a mail that is shown as its sender wrote it: no scripts, no forms, nothing loaded, and an origin that shares
 * no cookies with the product.
 */
const MAIL_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";

const MAILS_PER_ANSWER = 100;
const PARAMETER_CHARACTERS_MAX = 254;
/** Separates the signature of a mail from its text (RFC 3676 section 4.3). */
const SIGNATURE = /\n-- ?\n/;

/** Serves the inbox: a page at `/sandbox/mail`, one mail as HTML at `…/html`, and JSON at `…/messages`. */
const answerInbox = (inbox: Inbox, req: IncomingMessage, res: ServerResponse): void => {
  const url = URL.parse(req.url ?? '', 'http://localhost');
  const parameter = (name: string): string | undefined =>
    url?.searchParams.get(name)?.slice(0, PARAMETER_CHARACTERS_MAX) ?? undefined;
  const to = parameter('to');
  res.setHeader('cache-control', 'no-store');
  res.setHeader('x-content-type-options', 'nosniff');
  if (req.method !== 'GET' && req.method !== 'HEAD') {
    answerJson(res, 405, { detail: { code: 'method_not_allowed', message: 'The inbox is only read.' } });
  } else if (url?.pathname === '/sandbox/mail/messages') {
    answerJson(res, 200, { data: inbox.list({ to, limit: MAILS_PER_ANSWER }) });
  } else if (url?.pathname === '/sandbox/mail') {
    const page = inboxPage(inbox.list({ to, limit: MAILS_PER_ANSWER }), to);
    answerHtml(res, renderPage(page), pagePolicy(page.style));
  } else if (url?.pathname === '/sandbox/mail/html') {
    const mail = inbox.find({ id: parameter('id') ?? '', to: to ?? '' });
    if (mail === undefined || mail.html === '') answerNotFound(res);
    else answerHtml(res, mail.html, MAIL_POLICY);
  } else if (url?.pathname === '/healthz') {
    answerJson(res, 200, { status: 'ok' });
  } else {
    answerNotFound(res);
  }
};

const answerHtml = (res: ServerResponse, markup: string, policy: string): void => {
  res.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy }).end(markup);
};

const answerNotFound = (res: ServerResponse): void => {
  answerJson(res, 404, { detail: { code: 'not_found', message: 'There is nothing at this address.' } });
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
<header>${productMark()} svc</header>
<h1>Sandbox mail</h1>
<p class="lead">${leadOf(to)}</p>
${mails.length === 0 && html`<p>No mail yet.</p>`}
${mails.map(articleOf)}
</main>`,
});

const leadOf = (to: string | undefined): Html =>
  to === undefined
    ? html`Mails of this machine, newest first. None leaves it.`
    : html`Mails of this machine to ${to}, newest first. <a href="/sandbox/mail">Show all</a>`;

const articleOf = (mail: InboxMail): Html => {
  const [text = '', closing] = mail.text.split(SIGNATURE, 2);
  const query = new URLSearchParams({ to: mail.to, id: mail.id });
  return html`<article>
<h2>${mail.subject}</h2>
<small>to <a href="/sandbox/mail?${String(new URLSearchParams({ to: mail.to }))}">${mail.to}</a>, <time datetime="${mail.created_at}">${formatTime(mail.created_at)}</time></small>
<p>${withLinks(text.trim())}</p>
${closing !== undefined && html`<p class="closing">${closing.trim()}</p>`}
${mail.html !== '' && html`<p><a href="/sandbox/mail/html?${String(query)}">As a mail program shows it</a></p>`}
</article>`;
};

/** Turns the addresses in a text into links. */
const withLinks = (text: string): Html[] =>
  splitAtLinks(text).map((part, index) => (index % 2 === 0 ? html`${part}` : html`<a href="${part}">${part}</a>`));

const formatTime = (instant: string): string =>
  `${new Date(instant).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' })} UTC`;

export interface SandboxMailOptions {
  readonly host: string;
  /** Port of the inbox; 0 takes a free one. */
  readonly port: number;
  readonly smtpPort: number;
}

/** A running mail server with its inbox. */
export interface SandboxMail {
  readonly url: string;
  readonly smtpUrl: string;
  readonly inbox: Inbox;
  readonly stop: () => Promise<void>;
}

/** Starts an SMTP server whose mails can be read over HTTP. */
export const startSandboxMail = async ({ host, port, smtpPort }: SandboxMailOptions): Promise<SandboxMail> => {
  const inbox = createInbox();
  const receiver = createMailReceiver(inbox);
  const pages = createServer((req, res) => answerInbox(inbox, req, res));
  const smtp = receiver.listen(smtpPort, host);
  pages.listen(port, host);
  await Promise.all([once(smtp, 'listening'), once(pages, 'listening')]);
  return {
    url: `http://${host}:${portOf(pages)}`,
    smtpUrl: `smtp://${host}:${portOf(smtp)}`,
    inbox,
    stop: async () => {
      pages.closeAllConnections();
      await Promise.all([
        new Promise((resolve) => pages.close(resolve)),
        new Promise<void>((resolve) => receiver.close(resolve)),
      ]);
    },
  };
};

// Both listen on TCP, so their addresses have a port.
const portOf = (server: Pick<Server, 'address'>): number => (server.address() as AddressInfo).port;
