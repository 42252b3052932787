export type { InboxMail } from './sandbox-mail.ts';
export { type SandboxMail, startSandboxMail } from './sandbox-mail.ts';
