export type { InboxMail } from './inbox.ts';
export { type SandboxMail, startSandboxMail } from './sandbox-mail.ts';
