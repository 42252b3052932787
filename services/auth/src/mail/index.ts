export type { Mail, MailData, MailKind } from './mail.ts';
export { type Enqueued, enqueueMail, type MailOutboxDeps } from './mail-outbox.ts';
export { createMailTransport, type MailTransportOptions } from './mail-transport.ts';
export { deleteMailsBefore } from './queries.ts';
export { startMailer } from './start-mailer.ts';
