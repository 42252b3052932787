import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerInbox } from './answer-inbox.ts';
import { createInbox, type Inbox } from './inbox.ts';
import { createMailReceiver } from './receive-mail.ts';

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
