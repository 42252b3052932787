export type { Mail, MailData, MailPage } from './mail.ts';
export { createMailTransport, type MailTransportOptions } from './mail-transport.ts';
export { deleteMailsBefore, deleteMailsTo } from './queries.ts';
export { enqueueMail, type MailOutboxDeps, startMailer } from './send-due-mails.ts';
