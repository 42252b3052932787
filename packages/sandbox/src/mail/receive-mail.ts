import { randomUUID } from 'node:crypto';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import type { Inbox, InboxMail } from './inbox.ts';

const LINK = /https?:\/\/[^\s<>"]+/g;

const MAIL_BYTES_MAX = 5 * 1024 ** 2;
const CLIENTS_MAX = 50;
const SOCKET_TIMEOUT_MS = 60_000;

/** Creates an SMTP server (RFC 5321) that delivers every mail to the inbox and passes none on. */
export const createMailReceiver = (inbox: Inbox): SMTPServer => {
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
    links: [...new Set(text.match(LINK))],
    created_at: envelope.now.toISOString(),
  }));
};
