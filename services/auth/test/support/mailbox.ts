import { type InboxMail, startSandboxMail } from '@svc/sandbox/mail';
import { waitFor } from '@svc/testing';

/** A mail server for one test file, and its inbox. */
export interface Mailbox {
  /** Value of MAIL_URL. */
  readonly url: string;
  /** Lists the mails to an address, newest first. */
  readonly mailsTo: (address: string) => readonly InboxMail[];
  /** Waits for the newest mail to an address whose link leads to this page, and returns its token. */
  readonly tokenFor: (address: string, page: string) => Promise<string>;
  readonly stop: () => Promise<void>;
}

export const startMailbox = async (smtpPort = 0): Promise<Mailbox> => {
  const server = await startSandboxMail({ host: '127.0.0.1', port: 0, smtpPort });
  const mailsTo = (to: string) => server.inbox.list({ to, limit: 1_000 });
  const tokensFor = (address: string, page: string): string[] =>
    mailsTo(address)
      .flatMap(({ links }) => links.map((link) => new URL(link)))
      .filter(({ pathname }) => pathname.endsWith(`/${page}`))
      .map(({ searchParams }) => searchParams.get('token') ?? '');
  return {
    url: server.smtpUrl,
    mailsTo,
    tokenFor: async (address, page) => {
      await waitFor(() => tokensFor(address, page).length > 0);
      return tokensFor(address, page)[0] ?? '';
    },
    stop: server.stop,
  };
};
