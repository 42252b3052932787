import { createSandboxProvider } from './sandbox-provider.ts';

const PORT_DEFAULT = 9100;

const provider = await createSandboxProvider({
  port: Number(process.env['PORT'] ?? PORT_DEFAULT),
  host: process.env['HOST'] ?? '127.0.0.1',
  apiKey: process.env['SANDBOX_PROVIDER_KEY'] || undefined,
});
process.stdout.write(
  `${JSON.stringify({ level: 'info', time: new Date().toISOString(), service: 'sandbox-provider', message: 'listening', url: provider.url })}\n`,
);

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    void provider.stop().then(() => process.exit(0));
  });
}
