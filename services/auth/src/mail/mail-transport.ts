import { createTransport } from 'nodemailer';
import { SECOND_MS } from '../time.ts';
import type { RenderedMail } from './render-mail.ts';

const CONNECT_TIMEOUT_MS = 10 * SECOND_MS;
const SOCKET_TIMEOUT_MS = 20 * SECOND_MS;
const CONNECTIONS_MAX = 2;

/** Outcome of a sending: the server accepted the mail, refused it permanently, or may accept it later. */
export type SendOutcome =
  | { readonly state: 'sent' }
  | { readonly state: 'refused' | 'unsent' | 'unknown'; readonly errorCode: string };

/** Sends mails through a server. */
export interface MailTransport {
  readonly send: (mail: RenderedMail & { id: string; to: string }) => Promise<SendOutcome>;
  readonly close: () => void;
}

export interface MailTransportOptions {
  /** `smtp://` or `smtps://`, with credentials if the server requires them. */
  readonly url: string;
  readonly from: string;
  /** Host in the `Message-ID`. */
  readonly host: string;
}

/** Creates the transport. A mail keeps its `Message-ID` when it is sent again, so that mailboxes show it once. */
export const createMailTransport = ({ url, from, host }: MailTransportOptions): MailTransport => {
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: CONNECTIONS_MAX,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    dnsTimeout: CONNECT_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    send: async ({ id, to, ...content }) => {
      try {
        await transport.sendMail({
          ...content,
          from,
          // Passed as an object, so that no part of the address is parsed as another recipient.
          to: { name: '', address: to },
          messageId: `<${id}@${host}>`,
          headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
        });
        return { state: 'sent' };
      } catch (error) {
        return outcomeOf(error);
      }
    },
    close: () => transport.close(),
  };
};

/** Maps an error of nodemailer to an outcome. Keeps only codes, because the text may name the recipient. */
const outcomeOf = (error: unknown): SendOutcome => {
  const { code, responseCode, command } = describe(error);
  const errorCode = [code, responseCode].filter((part) => part !== undefined).join(' ') || 'unknown';
  if (responseCode !== undefined && responseCode >= 500 && code !== 'EAUTH') return { state: 'refused', errorCode };
  // The server has not accepted the mail: it answered with an error, or DATA was not sent.
  const isUnsent = responseCode !== undefined || command === 'CONN' || code === 'EDNS' || code === 'EAUTH';
  return { state: isUnsent ? 'unsent' : 'unknown', errorCode };
};

const describe = (error: unknown): { code?: string; responseCode?: number; command?: string } =>
  // Every member is optional, so any object fits.
  typeof error === 'object' && error !== null ? error : {};
