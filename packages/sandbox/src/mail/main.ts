import { startSandboxMail } from './sandbox-mail.ts';

const PORT_DEFAULT = 9200;
const SMTP_PORT_DEFAULT = 9225;

const mail = await startSandboxMail({
  port: Number(process.env['PORT'] ?? PORT_DEFAULT),
  smtpPort: Number(process.env['SMTP_PORT'] ?? SMTP_PORT_DEFAULT),
  host: process.env['HOST'] ?? '127.0.0.1',
});
process.stdout.write(
  `${JSON.stringify({ level: 'info', time: new Date().toISOString(), service: 'sandbox-mail', message: 'listening', url: mail.url })}\n`,
);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    void mail.stop().then(() => process.exit(0));
  });
}
