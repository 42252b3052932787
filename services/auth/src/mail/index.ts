export type { Mail, MailData, MailKind } from './mail.ts';
export { createMailTransport, type MailTransportOptions } from './mail-transport.ts';
export { deleteMailsBefore } from './queries.ts';
export { type Enqueued, enqueueMail, type MailOutboxDeps } from './send-due-mails.ts';
export { startMailer } from './start-mailer.ts';
