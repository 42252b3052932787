import { createTransport } from 'nodemailer';
import { SECOND_MS } from '../time.ts';
import type { RenderedMail } from './render-mail.ts';

const CONNECT_TIMEOUT_MS = 10 * SECOND_MS;
const SOCKET_TIMEOUT_MS = 20 * SECOND_MS;
const CONNECTIONS_MAX = 2;

/** Outcome of sending: the server took the mail, refused it for good, or may take it later. */
export type SendOutcome =
  | { readonly state: 'sent' }
  | { readonly state: 'refused' | 'unsent' | 'unknown'; readonly errorCode: string };

/** Hands mails to a server. */
export interface MailTransport {
  readonly send: (mail: RenderedMail & { id: string; to: string }) => Promise<SendOutcome>;
  readonly close: () => void;
}

export interface MailTransportOptions {
  /** `smtp://` or `smtps://`, with credentials if the server wants them. */
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
          // As an object, no part of the address is taken for another recipient.
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

/** Errors of nodemailer name the step that failed; their texts may name the recipient, so only codes are kept. */
const outcomeOf = (error: unknown): SendOutcome => {
  const { code, responseCode, command } = describe(error);
  const errorCode = [code, responseCode].filter((part) => part !== undefined).join(' ') || 'unknown';
  if (responseCode !== undefined && responseCode >= 500 && code !== 'EAUTH') return { state: 'refused', errorCode };
  // A server that answered has not taken the mail, and no server takes one before DATA.
  const isUnsent = responseCode !== undefined || command === 'CONN' || code === 'EDNS' || code === 'EAUTH';
  return { state: isUnsent ? 'unsent' : 'unknown', errorCode };
};

const describe = (error: unknown): { code?: string; responseCode?: number; command?: string } =>
  // Each member is optional, so any object will do.
  typeof error === 'object' && error !== null ? error : {};
